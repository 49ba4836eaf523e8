#include <holdfast/engines/redis/internal/connection/sentinel_answers.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ranges>
#include <vector>

#include <holdfast/base/printable.h>
#include <holdfast/engines/redis/internal/connection/server_errors.h>
#include <holdfast/engines/redis/internal/connection/wire.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::unexpected<base::Error> refusal(const Reply& error) {
  const bool is_no_sentinel = error.text().starts_with("ERR unknown command");
  return fail(ErrorCode::unavailable,
              std::string(is_no_sentinel ? "it is no Sentinel; a Redis server itself is named by "
                                           "redis://host:port"
                                         : "it does not say where the master is") +
                  " (it says: " + base::printable(error.text()) + ")");
}

}  // namespace

std::string_view field_of(const Reply& details, std::string_view name) {
  const std::vector<Reply>& parts = details.elements();
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    if (parts[i].text() == name) {
      return parts[i + 1].text();
    }
  }
  return {};
}

Result<std::optional<Master>> read_master(const Reply& address, const Reply& details) {
  if (address.is_error()) {
    return refusal(address);
  }
  if (address.is_nil()) {
    return std::nullopt;
  }
  if (details.is_error()) {
    return refusal(details);
  }
  const std::vector<Reply>& parts = address.elements();
  const auto port = parts.size() == 2 ? number<std::uint16_t>(parts[1].text()) : std::nullopt;
  const auto epoch = number<std::int64_t>(field_of(details, "config-epoch"));
  if (!port || *port == 0 || parts[0].text().empty() || !epoch) {
    return fail(ErrorCode::unavailable, "it gives an unexpected answer");
  }
  Master master{.host = parts[0].text(), .port = *port, .epoch = *epoch};
  if (field_of(details, "ip") != master.host || field_of(details, "port") != parts[1].text()) {
    ++master.epoch;  // a replica was promoted, and the fail-over is about to end
  }
  return master;
}

std::optional<std::string> read_switch(std::string_view message, std::string_view master_name) {
  std::array<std::string_view, 5> words;  // name, old host, old port, new host, new port
  std::size_t count = 0;
  for (const auto word : std::views::split(message, ' ')) {
    if (count == words.size()) {
      return std::nullopt;
    }
    words[count++] = std::string_view(word);
  }
  const auto port = number<std::uint16_t>(words[4]);
  if (count != words.size() || words[0] != master_name || !port || *port == 0) {
    return std::nullopt;
  }
  return server_address(std::string(words[3]), *port);
}

Result<void> check_is_master(const Reply& role) {
  if (role.is_error(server_error::kNoPermission)) {
    return fail(ErrorCode::unavailable,
                "the user may not ask whether it is a master: allow it the command ROLE");
  }
  if (is_unfit(role)) {
    return std::unexpected(failure_of(role));
  }
  const std::vector<Reply>& parts = role.elements();
  if (parts.empty()) {
    return fail(ErrorCode::unavailable, "it does not say whether it is a master");
  }
  if (parts.front().text() != "master") {
    return fail(ErrorCode::unavailable, "it is a replica: a fail-over may be under way");
  }
  return {};
}

}  // namespace holdfast::engines::redis::internal
