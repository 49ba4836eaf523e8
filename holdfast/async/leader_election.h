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
#include <holdfast/async/internal/refuse_unnamed.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/recipes/leader_election.h>
#include <holdfast/recipes/options_for.h>

namespace holdfast::async {

// recipes::LeaderElection for coroutines, with the same promises; the two elect together.
// Completion and cancellation are those of AsyncLockProvider.
//
// Thread-safe. Its provider must outlive it; its terms may outlive it. Name the options, as for
// AsyncLockProvider.
//
//   AsyncLeaderElection election(provider, "scheduler");
//   co_await election.lead(schedule, candidate);   // awaitable<void> schedule(recipes::Term term)
class AsyncLeaderElection {
 public:
  using Work = std::function<boost::asio::awaitable<void>(recipes::Term term)>;

  AsyncLeaderElection(AsyncLockProvider& provider, std::string name)
      : provider_(provider), name_(std::move(name)) {}

  // Waits for a term. Completes with base::Result<std::optional<AsyncLock>>: nullopt if others led
  // for all of `options.wait` (default: no limit).
  template <class Token = boost::asio::use_awaitable_t<>>
  [[nodiscard]] auto campaign(const locks::AcquireOptions& options, Token&& token = {}) {
    const auto how = recipes::as_candidate(options);
    return provider_.try_acquire(name_, how, std::forward<Token>(token));
  }

  // Campaigns repeatedly, and runs the work in each term, until `options.stop` is requested (which
  // is no error) or the coroutine is cancelled. Otherwise like recipes::LeaderElection::lead.
  [[nodiscard]] boost::asio::awaitable<base::Result<void>> lead(
      Work work, const locks::AcquireOptions& options) {
    return lead_with(std::move(work), options);
  }
  // Do not compile: the options need a name.
  template <class... Token>
  void campaign(locks::AcquireOptions&& /*options*/, Token&&... /*token*/) {
    internal::refuse_unnamed_options<Token...>();
  }
  template <class... Nothing>
  void lead(Work /*work*/, locks::AcquireOptions&& /*options*/, Nothing&&... /*nothing*/) {
    internal::refuse_unnamed_options<Nothing...>();
  }

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
  // Keeps a copy of the options in the coroutine.
  [[nodiscard]] boost::asio::awaitable<base::Result<void>> lead_with(Work work,
                                                                     locks::AcquireOptions options);

  AsyncLockProvider& provider_;
  const std::string name_;
};

}  // namespace holdfast::async
