#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/engines/sqlite/internal/connection.h>
#include <holdfast/engines/sqlite/internal/statement.h>
#include <holdfast/engines/sqlite/internal/transaction.h>
#include <holdfast/engines/sqlite/internal/wake_board.h>
#include <holdfast/store/claim.h>

namespace holdfast::engines::sqlite::internal {

// Makes the table of the queues where the file has none.
[[nodiscard]] base::Result<void> make_queue(Connection& connection, Transactions& transactions);

// The claims that wait for mutexes, a queue for each name, in the order in which they joined it.
// One thread at a time, within a transaction.
//
// A member is dead if no process sleeps at its address any more, or if its claim was not sent for
// kForgottenAfter.
class Queue {
 public:
  using Place = std::int64_t;  // within the queue of one name; used again when that is empty
  static constexpr base::Duration kForgottenAfter = std::chrono::minutes(1);
  // Without an address nobody can see that its process has ended.
  static constexpr base::Duration kForgottenWithoutAddress = std::chrono::seconds(5);
  // The number of dead members that one operation removes.
  static constexpr std::int64_t kMostRemoved = 1'000;

  explicit Queue(Connection& connection) noexcept;

  struct Member {
    base::LeaseId id;
    std::string owner;
    std::string reason;
    WakeBoard::Address address = WakeBoard::kNoAddress;
  };
  using IsAlive = std::function<bool(WakeBoard::Address address)>;
  // Removes the first live member and returns it; also removes the dead ones before it. None if
  // there is none, or not among the first kMostRemoved.
  [[nodiscard]] base::Result<std::optional<Member>> pop(std::string_view name, base::TimePoint now,
                                                        const IsAlive& is_alive);
  // Returns how many live claims are before this place, of the first `most`.
  [[nodiscard]] base::Result<std::uint32_t> ahead_of(std::string_view name, Place place,
                                                     std::uint32_t most, base::TimePoint now,
                                                     const IsAlive& is_alive);
  // Adds a claim to the end of the queue.
  [[nodiscard]] base::Result<Place> join(std::string_view name, const store::Claim& claim,
                                         WakeBoard::Address address, base::TimePoint now);
  // Returns whether the claim is still in the queue, and keeps it from being forgotten.
  [[nodiscard]] base::Result<bool> keep(std::string_view name, Place place, const base::LeaseId& id,
                                        WakeBoard::Address address, base::TimePoint now);
  [[nodiscard]] base::Result<void> leave(std::string_view name, Place place,
                                         const base::LeaseId& id);

 private:
  Statement members_;
  Statement remove_;
  Statement ahead_;
  Statement join_;
  Statement find_;
  Statement keep_;
  Statement leave_;
};

}  // namespace holdfast::engines::sqlite::internal
