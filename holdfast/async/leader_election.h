#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/async/async_lock.h>
#include <holdfast/async/async_lock_provider.h>
#include <holdfast/async/internal/calls.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/recipes/leader_election.h>

namespace holdfast::async {

// recipes::LeaderElection for coroutines, with the same promises; the two elect together.
// Completion and cancellation are those of AsyncLockProvider.
//
// Thread-safe. Its provider must outlive it; its terms may outlive it. Name the options, as for
// AsyncLockProvider.
//
//   LeaderElection election(provider, "scheduler");
//   co_await election.lead(schedule, candidate);   // awaitable<void> schedule(recipes::Term term)
class LeaderElection {
 public:
  using Work = std::function<boost::asio::awaitable<void>(recipes::Term term)>;

  LeaderElection(AsyncLockProvider& provider, std::string name)
      : provider_(provider), name_(std::move(name)) {}

  // Waits for a term. Completes with base::Result<std::optional<AsyncLock>>: nullopt if others led
  // for all of `options.wait` (default: no limit).
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto campaign(const locks::AcquireOptions& options, Token&& token = {}) {
    const auto how = recipes::LeaderElection::as_candidate(options);
    return provider_.try_acquire(name_, how, std::forward<Token>(token));
  }

  // Campaigns repeatedly, and runs the work in each term, until `options.stop` is requested (which
  // is no error) or the coroutine is cancelled. Otherwise like recipes::LeaderElection::lead.
  [[nodiscard]] boost::asio::awaitable<base::Result<void>> lead(Work work,
                                                                locks::AcquireOptions options);

  // Returns nullopt if there is no leader.
  [[nodiscard]] boost::asio::awaitable<base::Result<std::optional<recipes::Leader>>> leader();
  // Completes with base::Result<std::optional<recipes::Leader>>, as
  // recipes::LeaderElection::wait_for_change.
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto wait_for_change(std::optional<base::FencingToken> known, base::Duration wait,
                                     std::stop_token stop = {}, Token&& token = {}) {
    return internal::initiate<internal::ChangeCall,
                              void(base::Result<std::optional<recipes::Leader>>)>(
        std::forward<Token>(token), provider_.room(), &provider_.clock(), name_, known, wait,
        std::move(stop));
  }

 private:
  AsyncLockProvider& provider_;
  const std::string name_;
};

}  // namespace holdfast::async
