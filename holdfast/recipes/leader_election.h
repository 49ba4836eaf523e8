#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/recipes/leader.h>

namespace holdfast::recipes {

// A term, as passed to the work of `lead`.
struct Term {
  base::FencingToken token;
  // Fires when the term is lost, or when the election is to stop: end the work soon.
  std::stop_token over;
};

// An election of one leader among many candidates; another leads when the leader resigns or dies.
//
// Thread-safe. Its provider must outlive it; its terms may outlive it. A term is a lock: it is
// renewed while the process lives, `lost` fires when it can no longer be promised, and releasing it
// resigns. Blocking and cancellation are those of LockProvider::acquire.
//
// Promised: at most one leader in the store's order; the token of a later term is greater. Not
// promised: that a leader that was stopped or disconnected knows at once that another leads. Pass
// the token to the resources it changes, and let them reject stale tokens.
//
//   LeaderElection election(provider, "scheduler");
//   election.lead([](const Term& term) { schedule(term.over, term.token); }, {.stop = stop});
class LeaderElection {
 public:
  LeaderElection(locks::LockProvider& provider, std::string name);

  // Waits for a term and returns it; nullopt if others led for all of `options.wait` (default: no
  // limit). To resign, release or destroy the lock.
  [[nodiscard]] base::Result<std::optional<locks::Lock>> campaign(
      const locks::AcquireOptions& options = {});

  // Campaigns repeatedly, and runs the work in each term, in the calling thread. When the work
  // returns, it resigns, and may lead again at once, even if others wait. Ends without an error
  // when `options.stop` is requested, or with an error of the store; but failing to release a term
  // that was lost, or after a stop, is not an error. An exception of the work ends its term and is
  // passed on. Ignores `options.wait`.
  base::Result<void> lead(const std::function<void(const Term& term)>& work,
                          const locks::AcquireOptions& options);

  // Returns nullopt if there is no leader.
  [[nodiscard]] base::Result<std::optional<Leader>> leader();
  // Waits until the leader is not the one with this token (nullopt: until there is a leader), or
  // until the wait is over, and returns the current leader. ErrorCode::cancelled after a stop.
  // Polls the store; notices a resignation at once if the store notifies.
  [[nodiscard]] base::Result<std::optional<Leader>> wait_for_change(
      std::optional<base::FencingToken> known, base::Duration wait,
      const std::stop_token& stop = {});

 private:
  locks::LockProvider& provider_;
  const std::string name_;
};

}  // namespace holdfast::recipes
