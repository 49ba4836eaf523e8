#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/core.h>

#include <holdfast/base/percent.h>
#include <holdfast/base/printable.h>

#include "apps/holdfast/serve/target.h"

namespace holdfast::cli::serve {

namespace {

using base::Result;

std::unexpected<base::Error> invalid(std::string message) {
  return base::fail(base::ErrorCode::invalid_argument, std::move(message));
}

bool is_plain(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || std::string_view("-._~").contains(byte);
}

}  // namespace

Result<Target> Target::parse(std::string_view text) {
  if (!text.starts_with('/')) {
    return invalid("the target of the request is not a path");
  }
  const std::size_t question = std::min(text.find('?'), text.size());
  const auto path = base::percent_decode(text.substr(0, question));
  if (!path) {
    return invalid("the path has a percent sign without two hexadecimal digits");
  }
  Target target{.path = *path, .query = {}};
  std::string_view left = text.substr(std::min(question + 1, text.size()));
  while (!left.empty()) {
    const std::string_view pair = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(pair.size() + 1, left.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto key = base::percent_decode(pair.substr(0, equals));
    auto value = base::percent_decode(pair.substr(std::min(equals + 1, pair.size())));
    if (!key || !value) {
      return invalid("the query has a percent sign without two hexadecimal digits");
    }
    if (!target.query.try_emplace(*std::move(key), *std::move(value)).second) {
      return invalid("the query has a key twice");
    }
  }
  return target;
}

const std::string* Target::find(std::string_view key) const {
  const auto found = query.find(key);
  return found != query.end() ? &found->second : nullptr;
}

Result<std::uint64_t> Target::number(std::string_view key, std::uint64_t otherwise,
                                     std::uint64_t most) const {
  const std::string* const text = find(key);
  if (text == nullptr) {
    return otherwise;
  }
  std::uint64_t value = 0;
  const char* const end = text->data() + text->size();
  const auto [after, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || after != end || value > most) {
    return invalid(
        fmt::format("{} is not a whole number up to {}: {}", key, most, base::printable(*text)));
  }
  return value;
}

std::string id_of(std::string_view name) {
  std::string id;
  for (const char byte : name) {
    if (is_plain(byte)) {
      id += byte;
    } else {
      id += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
    }
  }
  return id;
}

}  // namespace holdfast::cli::serve
