#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/utf8.h>
#include <holdfast/store/claim.h>

#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/kind.h"
#include "apps/holdfast/cli/output.h"

namespace holdfast::cli {

Json::Json(double value) : text_(nlohmann::json(value).dump()) {}

Json::Json(std::string_view value)
    : text_(nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {}

Json::Json(std::initializer_list<JsonMember> members) : text_("{}") {
  for (const JsonMember& member : members) {
    append(Json(member.key).text_ + ':' + member.value.text_);
  }
}

Json Json::array() {
  Json empty;
  empty.text_ = "[]";
  return empty;
}

void Json::push_back(const Json& value) { append(value.text_); }

void Json::update(const Json& object) {
  append(std::string_view(object.text_).substr(1, object.text_.size() - 2));
}

void Json::append(std::string_view piece) {
  constexpr std::size_t kEmpty = 2;  // only its brackets
  const std::string_view comma = text_.size() > kEmpty && !piece.empty() ? "," : "";
  text_.insert(text_.size() - 1, std::string(comma).append(piece));
}

double to_ms(base::Duration value) noexcept {
  constexpr double kThousand = 1000;
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(value).count();
  return static_cast<double>(micros) / kThousand;
}

Json permits_json(std::uint32_t count) {
  return count == store::Permits::kAll ? Json(nullptr) : Json(count);
}

Json to_json(const base::Error& error) {
  return {{"code", base::to_string(error.code)}, {"message", error.message}};
}

Json to_json(const store::Holder& holder) {
  return {{"lease_id", base::to_string(holder.id)},
          {"owner", holder.owner},
          {"reason", holder.reason},
          {"permits", permits_json(holder.permits)},
          {"token", holder.token.value()},
          {"held_for_ms", to_ms(holder.held_for)},
          {"time_left_ms", to_ms(holder.time_left)},
          {"foreign", holder.foreign}};
}

Json to_json(const locks::Waiter& waiter) {
  Json holding = Json::array();
  for (const base::LeaseId& id : waiter.holding) {
    holding.push_back(base::to_string(id));
  }
  return {{"name", waiter.name},
          {"lease_id", base::to_string(waiter.id)},
          {"owner", waiter.owner},
          {"reason", waiter.reason},
          {"permits", permits_json(waiter.wants.count)},
          {"waited_ms", to_ms(waiter.waited)},
          {"holding", std::move(holding)}};
}

Json to_json(const std::vector<locks::Waiter>& waiters) {
  Json all = Json::array();
  for (const locks::Waiter& waiter : waiters) {
    all.push_back(to_json(waiter));
  }
  return all;
}

Json to_json(std::string_view name, const std::optional<store::NameState>& state,
             std::string_view kind_without_holders) {
  Json holders = Json::array();
  if (state) {
    for (const store::Holder& holder : state->holders) {
      holders.push_back(to_json(holder));
    }
  }
  const std::string_view kind = state ? kind_of(name, *state) : kind_without_holders;
  return {{"name", name},
          {"held", state.has_value()},
          {"kind", kind.empty() ? Json(nullptr) : Json(kind)},
          {"capacity", state ? permits_json(state->capacity) : Json(nullptr)},
          {"holders", std::move(holders)}};
}

std::string to_line(const Json& value) {
  std::string line;
  for (std::string_view left = value.text(); !left.empty();) {
    const base::CodePoint front = base::front_of_utf8(left);
    const std::string_view piece = left.substr(0, std::max<std::size_t>(front.size, 1));
    if (base::is_unsafe_to_print(front.value)) {
      line += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(front.value));
    } else {
      line += piece;
    }
    left.remove_prefix(piece.size());
  }
  return line;
}

void print_line(const Json& value) { print_output("{}\n", to_line(value)); }

}  // namespace holdfast::cli
