#include <holdfast/store/outcome.h>

#include <ostream>

#include <holdfast/base/record_text.h>
#include <holdfast/store/claim.h>

namespace holdfast::store {

std::string to_string(const Holder& holder) {
  return base::RecordText("Holder")
      .plain("id", to_string(holder.id))
      .quoted("owner", holder.owner)
      .quoted("reason", holder.reason)
      .number("permits", holder.permits)
      .plain("token", to_string(holder.token))
      .time("held_for", holder.held_for)
      .time("time_left", holder.time_left)
      .flag("foreign", holder.foreign)
      .str();
}

std::string to_string(const NameState& state) {
  std::string holders = "[";
  for (const Holder& holder : state.holders) {
    holders += (holders.size() > 1 ? ", " : "") + to_string(holder);
  }
  return base::RecordText("NameState")
      .quoted("name", state.name.view())
      .plain("capacity", state.capacity == Permits::kAll ? "all" : std::to_string(state.capacity))
      .plain("holders", holders + "]")
      .str();
}

std::ostream& operator<<(std::ostream& out, const Holder& holder) {
  return out << to_string(holder);
}

std::ostream& operator<<(std::ostream& out, const NameState& state) {
  return out << to_string(state);
}

}  // namespace holdfast::store
