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

// One time of leading, as given to the work of `lead`.
struct Term {
  base::FencingToken token;
  // Fires when the term is lost, or when the election is to be stopped: end the work soon.
  std::stop_token over;
};

// Elects one of many candidates, and another when it resigns or dies.
//
// Thread-safe. Outlived by its provider; its terms may outlive it. A term is a lock: it is renewed
// while the process lives, `lost` fires when it cannot be promised any more, and its end is its
// resignation. What blocks and how it is cancelled: as LockProvider::acquire does.
//
// Promised: at most one leads in the store's order; the token of a later term is greater. Not
// promised: that a leader that was stopped, or cut off, knows at once that another leads. Pass the
// token to what it changes, and let that refuse older ones.
//
//   LeaderElection election(provider, "scheduler");
//   election.lead([](const Term& term) { schedule(term.over, term.token); }, {.stop = stop});
class LeaderElection {
 public:
  LeaderElection(locks::LockProvider& provider, std::string name);

  // The term, when it has begun; nothing if others led for all of `options.wait` (default: without
  // bound). To resign, release it or let it go.
  [[nodiscard]] base::Result<std::optional<locks::Lock>> campaign(
      const locks::AcquireOptions& options = {});

  // Campaigns again and again, and does the work in each term, in the calling thread. When the work
  // returns, resigns, and may lead again at once, even if others wait. Ends when `options.stop` is
  // requested (which is no error), or with an error of the store; but that a term which is lost, or
  // was stopped, could not be given back is none. An exception of the work ends its term and is
  // passed on. `options.wait` is not looked at.
  base::Result<void> lead(const std::function<void(const Term& term)>& work,
                          const locks::AcquireOptions& options);

  // How a provider is asked for a term.
  [[nodiscard]] static locks::AcquireOptions as_candidate(locks::AcquireOptions options);

  // Nothing if nobody leads.
  [[nodiscard]] base::Result<std::optional<Leader>> leader();
  // Returns when another leads than the one with this token (nothing: than nobody), or nobody does,
  // or with what is known when the wait is over. ErrorCode::cancelled after a stop. Asks the store
  // again and again; a resignation is noticed at once where the store tells.
  [[nodiscard]] base::Result<std::optional<Leader>> wait_for_change(
      std::optional<base::FencingToken> known, base::Duration wait, std::stop_token stop = {});

 private:
  locks::LockProvider& provider_;
  const std::string name_;
};

}  // namespace holdfast::recipes
