#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/name.h>
#include <holdfast/engines/redis/internal/key_space.h>
#include <holdfast/engines/redis/internal/link.h>
#include <holdfast/engines/redis/internal/queued_claims.h>
#include <holdfast/engines/redis/internal/script.h>
#include <holdfast/engines/redis/internal/scripts.h>
#include <holdfast/engines/redis/internal/watchers.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>
#include <holdfast/store/listings.h>
#include <holdfast/store/outcome.h>

namespace holdfast::engines::redis::internal {

// What the operations of a store need, whether they block or not, in the order in which it is
// needed. Thread-safe.
class Engine {
 public:
  Engine(RedisOptions options, Scripts::Time time);

  // Runs a script for one name. `fill` adds its own arguments.
  template <class Fill>
  base::Result<Reply> run(const Script& script, const base::Name& name, base::Deadline deadline,
                          const Fill& fill) const {
    const Keys of_name = keys.keys_of(name.view());
    return scripts.run(
        script,
        [&](Command& command) {
          add_keys(command, of_name);
          fill(command);
        },
        deadline);
  }

  // Runs it without blocking. `fill` keeps what it needs.
  template <class Fill, class Outcome>
  void submit(const Script& script, const base::Name& name, base::Deadline deadline, Fill fill,
              Outcome outcome) const {
    scripts.submit(
        script,
        [this, of_name = keys.keys_of(name.view()), fill = std::move(fill)](Command& command) {
          add_keys(command, of_name);
          fill(command);
        },
        deadline, std::move(outcome));
  }

  // A claim that is about to be sent.
  struct Claiming {
    std::string waits_as;  // the store that joins the queue if the claim is refused; or empty
    std::string member;    // the member of the queue with this claim; empty if it may not be there
    bool is_new = false;   // it was not in the queue before
  };
  [[nodiscard]] Claiming begin_claim(const base::Name& name, const store::Claim& claim);
  // Returns the outcome of the claim. Of the engine, only `queued` may still exist: requests under
  // way when the link ends are answered, too.
  [[nodiscard]] static base::Result<store::ClaimOutcome> end_claim(QueuedClaims& queued,
                                                                   const base::Name& name,
                                                                   const store::Claim& claim,
                                                                   const Claiming& claiming,
                                                                   base::Result<Reply> reply);

  // A transfer that is about to be sent, with the members of the queue with either lease, or empty:
  // a waiter that was handed the name leaves the queue.
  struct Handing {
    base::LeaseId from;
    store::Claim to;
    std::string from_member;
    std::string to_member;
  };
  [[nodiscard]] Handing begin_transfer(const base::Name& name, const base::LeaseId& from,
                                       const store::Claim& to) const;
  // As end_claim().
  [[nodiscard]] static base::Result<store::TransferOutcome> end_transfer(QueuedClaims& queued,
                                                                         const base::Name& name,
                                                                         const Handing& handing,
                                                                         base::Result<Reply> reply);

  // Returns the member of the queue with this claim, if it may be there; the claim is about to end.
  [[nodiscard]] std::string take_member(const base::Name& name, const base::LeaseId& id);
  // Undoes take_member() after a release that may not have reached the server: it is sent again.
  void return_member(const base::Name& name, const base::LeaseId& id, std::string_view member);

  // Add what each script wants beside the name.
  static void add_claim(Command& command, const store::Claim& claim, const Claiming& claiming);
  void add_transfer(Command& command, const Handing& handing) const;
  void add_release(Command& command, const base::LeaseId& id, std::string_view waits_as,
                   std::string_view member) const;
  static void add_hit(Command& command, const store::Hit& hit);

  // These outlive the link, whose late answers use them.
  QueuedClaims queued;
  const KeySpace keys;
  const Scripts scripts;
  const std::unique_ptr<Link> link;
  Watchers watchers;
  store::Listings listings;

 private:
  Engine(std::unique_ptr<Link> new_link, Scripts::Time time);

  [[nodiscard]] bool yields() const noexcept;
  // Empty if this claim is not in the queue.
  [[nodiscard]] std::string member(const base::Name& name, const base::LeaseId& id) const;
  void add_keys(Command& command, const Keys& of_name) const {
    command.add(3).add(of_name.plain).add(of_name.companion).add(of_name.queue);
    scripts.add_common(command);
  }
};

// Durations as the scripts count them.
[[nodiscard]] std::int64_t microseconds(base::Duration duration);

}  // namespace holdfast::engines::redis::internal
