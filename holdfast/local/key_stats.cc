#include <holdfast/local/key_stats.h>

#include <ostream>

#include <holdfast/base/record_text.h>

namespace holdfast::local {

std::string to_string(const KeyState& state) {
  return base::RecordText("KeyState")
      .quoted("key", state.key)
      .flag("exclusive", state.exclusive)
      .number("readers", state.readers)
      .number("waiting_exclusive", state.waiting_exclusive)
      .number("waiting_shared", state.waiting_shared)
      .str();
}

std::ostream& operator<<(std::ostream& out, const KeyState& state) {
  return out << to_string(state);
}

}  // namespace holdfast::local
