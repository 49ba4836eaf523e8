#include <holdfast/engines/redis/internal/connection/reply.h>

namespace holdfast::engines::redis::internal {

bool Reply::is_error(std::string_view word) const noexcept {
  const std::string_view said = text();
  return is_error() && said.substr(0, said.find(' ')) == word;
}

std::int64_t Reply::integer() const noexcept {
  const auto* const value = std::get_if<std::int64_t>(&value_);
  return value != nullptr ? *value : 0;
}

const std::string& Reply::text() const noexcept {
  static const std::string kNone;
  const auto* const value = std::get_if<std::string>(&value_);
  return value != nullptr ? *value : kNone;
}

const std::vector<Reply>& Reply::elements() const noexcept {
  static const std::vector<Reply> kNone;
  const auto* const value = std::get_if<std::vector<Reply>>(&value_);
  return value != nullptr ? *value : kNone;
}

std::string Reply::take_text() noexcept {
  auto* const value = std::get_if<std::string>(&value_);
  return value != nullptr ? std::move(*value) : std::string();
}

std::vector<Reply> Reply::take_elements() noexcept {
  auto* const value = std::get_if<std::vector<Reply>>(&value_);
  return value != nullptr ? std::move(*value) : std::vector<Reply>();
}

}  // namespace holdfast::engines::redis::internal
