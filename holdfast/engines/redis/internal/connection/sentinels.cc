#include <holdfast/engines/redis/internal/connection/sentinels.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/connection/exchange.h>
#include <holdfast/engines/redis/internal/connection/greeting.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::Result;

// Returns the end of one of several attempts that share a deadline, and take no longer than `most`
// each.
Deadline share_of(Deadline deadline, std::size_t attempts, base::Duration most) {
  const base::TimePoint now = base::steady_clock().now();
  const base::Duration left = deadline.remaining(now);
  return Deadline::at(
      base::add_saturating(now, std::min(most, left / static_cast<base::Duration::rep>(attempts))));
}

std::unexpected<base::Error> closed() {
  return fail(ErrorCode::unavailable, "the store was closed");
}

}  // namespace

Sentinels::Sentinels(RedisOptions options) : options_(std::move(options)), order_(nodes().size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

RedisOptions Sentinels::options_of(std::size_t place) const {
  RedisOptions options = options_;
  options.sentinel.reset();
  options.host = nodes()[place].host;
  options.port = nodes()[place].port;
  options.user = options_.sentinel->user;
  options.password = options_.sentinel->password;
  options.database = 0;
  return options;
}

std::vector<std::size_t> Sentinels::order() const {
  const base::MutexLock lock(mutex_);
  return order_;
}

void Sentinels::ask_first(std::size_t place) {
  const base::MutexLock lock(mutex_);
  const auto found = std::ranges::find(order_, place);
  std::rotate(order_.begin(), found, found + 1);
}

void Sentinels::ask_last(std::size_t place) {
  const base::MutexLock lock(mutex_);
  const auto found = std::ranges::find(order_, place);
  std::rotate(found, found + 1, order_.end());
}

base::Error Sentinels::named(std::size_t place, const base::Error& error) const {
  return {error.code, "the Sentinel at " + server_address(options_of(place)) +
                          " cannot be used: " + error.message};
}

Result<std::vector<Reply>> Sentinels::ask(std::size_t place,
                                          std::initializer_list<Command> commands,
                                          Deadline deadline) const {
  HOLDFAST_TRY_LET(const auto wire, connect_and_greet(options_of(place), deadline, Peer::sentinel));
  auto replies = exchange(*wire, commands, deadline);
  if (!replies) {
    return std::unexpected(named(place, replies.error()));
  }
  return replies;
}

Result<std::optional<Master>> Sentinels::ask_for_master(std::size_t place,
                                                        Deadline deadline) const {
  HOLDFAST_TRY_LET(const auto replies,
                   ask(place,
                       {Command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_name()),
                        Command("SENTINEL", "MASTER", master_name())},
                       deadline));
  auto master = read_master(replies.at(0), replies.at(1));
  if (!master) {
    return std::unexpected(named(place, master.error()));
  }
  return master;
}

Result<Master> Sentinels::find_master(Deadline deadline) {
  std::optional<Master> newest;
  std::size_t agreed = 0;
  std::vector<std::string> failures;
  std::size_t left = count() + 1;  // with the caller's own question to the master
  for (const std::size_t place : order()) {
    if (is_stopped_) {
      return closed();
    }
    const auto answer = ask_for_master(place, share_of(deadline, left--, options_.connect_timeout));
    if (!answer) {
      ask_last(place);
      failures.push_back(answer.error().message);
    } else if (*answer && newest == *answer) {
      ++agreed;
    } else if (*answer && (!newest || (*answer)->epoch > newest->epoch)) {
      newest = *answer;
      agreed = 1;
    }
    if (agreed * 2 > count()) {
      break;
    }
  }
  if (!newest) {
    return std::unexpected(failure(failures));
  }
  return *std::move(newest);
}

base::Error Sentinels::failure(std::span<const std::string> failures) const {
  if (failures.empty()) {
    return {ErrorCode::invalid_argument,
            "no master is named '" + base::printable(master_name()) + "' by " +
                sentinel_addresses(*options_.sentinel) +
                "; check the name: SENTINEL MASTERS lists those that a Sentinel knows"};
  }
  std::string message =
      "no Sentinel says where the master '" + base::printable(master_name()) + "' is";
  std::string_view separator = ": ";
  for (const std::string& each : failures) {
    message.append(separator).append(each);
    separator = "; ";
  }
  if (failures.size() < count()) {
    message += "; the others do not know that name";
  }
  return {ErrorCode::unavailable, std::move(message)};
}

Result<Route::Opened> Sentinels::open_any(Deadline deadline) {
  std::vector<std::string> failures;
  std::size_t left = count();
  for (const std::size_t place : order()) {
    if (is_stopped_) {
      return closed();
    }
    const RedisOptions options = options_of(place);
    auto wire = connect_and_greet(options, share_of(deadline, left--, options_.connect_timeout),
                                  Peer::sentinel);
    if (wire) {
      ask_first(place);
      return Route::Opened{.wire = *std::move(wire), .address = server_address(options)};
    }
    ask_last(place);
    failures.push_back(wire.error().message);
  }
  return std::unexpected(failure(failures));
}

}  // namespace holdfast::engines::redis::internal
