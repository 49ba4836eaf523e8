#include <holdfast/async/leader_election.h>

#include <exception>

#include <holdfast/recipes/any_stop.h>

namespace holdfast::async {

namespace asio = boost::asio;
using base::Result;

asio::awaitable<Result<void>> AsyncLeaderElection::lead_with(Work work,
                                                             locks::AcquireOptions options) {
  options.wait = base::Duration::max();
  while (!options.stop.stop_requested()) {
    auto elected = co_await campaign(std::as_const(options));
    if (!elected && options.stop.stop_requested()) {
      break;
    }
    if (!elected) {
      co_return std::unexpected(std::move(elected).error());
    }
    AsyncLock lock = **std::move(elected);
    std::exception_ptr failure;
    {
      recipes::AnyStop over;
      over.add(lock.lost());
      over.add(options.stop);
      const recipes::Term term{.token = lock.token(), .over = over.token()};
      try {
        co_await work(term);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    const bool is_lost = lock.lost().stop_requested();
    auto resigned = co_await lock.release();
    if (failure) {
      std::rethrow_exception(failure);  // the term is over: the caller sees no leader
    }
    // A lost term need not be released, and after a stop it is left to expire.
    if (!resigned && !is_lost && !options.stop.stop_requested()) {
      co_return std::unexpected(std::move(resigned).error());
    }
  }
  co_return Result<void>();
}

asio::awaitable<Result<std::optional<recipes::Leader>>> AsyncLeaderElection::leader() {
  const auto state = co_await provider_.look(name_);
  co_return recipes::leader_in(state);
}

}  // namespace holdfast::async
