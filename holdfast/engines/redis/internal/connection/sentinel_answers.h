#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/connection/reply.h>

// The answers and messages of Sentinels. Pure.
namespace holdfast::engines::redis::internal {

// The master, as one Sentinel sees it.
struct Master {
  std::string host;
  std::uint16_t port = 0;
  // Grows with every fail-over: of two Sentinels the one with the greater number is right.
  std::int64_t epoch = 0;

  friend bool operator==(const Master&, const Master&) = default;
};

// Returns the value of a field in a list of fields and values, such as the answer to SENTINEL
// MASTER; empty if it is not there. Refers to the reply.
[[nodiscard]] std::string_view field_of(const Reply& details, std::string_view name);

// Reads the answers to SENTINEL GET-MASTER-ADDR-BY-NAME and SENTINEL MASTER. Returns nullopt if the
// Sentinel does not know the name. unavailable: it answers with an error, or is no Sentinel.
[[nodiscard]] base::Result<std::optional<Master>> read_master(const Reply& address,
                                                              const Reply& details);

// Returns the new address in a message of the channel +switch-master, "host:port"; nullopt if the
// message is about another master.
[[nodiscard]] std::optional<std::string> read_switch(std::string_view message,
                                                     std::string_view master_name);

// Checks the answer to ROLE. unavailable: the server is no master, or does not say.
[[nodiscard]] base::Result<void> check_is_master(const Reply& role);

}  // namespace holdfast::engines::redis::internal
