#include <holdfast/recipes/leader_election.h>

#include <utility>

#include <holdfast/locks/steps/run_blocking.h>
#include <holdfast/recipes/any_stop.h>
#include <holdfast/recipes/change_steps.h>
#include <holdfast/recipes/options_for.h>

namespace holdfast::recipes {

namespace {

using base::Result;
using locks::AcquireOptions;
using locks::Lock;

}  // namespace

LeaderElection::LeaderElection(locks::LockProvider& provider, std::string name)
    : provider_(provider), name_(std::move(name)) {}

Result<std::optional<Lock>> LeaderElection::campaign(const AcquireOptions& options) {
  return provider_.try_acquire(name_, as_candidate(options));
}

Result<void> LeaderElection::lead(const std::function<void(const Term& term)>& work,
                                  const AcquireOptions& options) {
  AcquireOptions how = options;
  how.wait = base::Duration::max();
  while (!options.stop.stop_requested()) {
    auto elected = campaign(how);
    if (!elected && options.stop.stop_requested()) {
      break;
    }
    if (!elected) {
      return std::unexpected(std::move(elected).error());
    }
    Lock term = **std::move(elected);
    {
      AnyStop over;
      over.add(term.lost());
      over.add(options.stop);
      work({.token = term.token(), .over = over.token()});
    }
    const bool is_lost = term.lost().stop_requested();
    auto resigned = term.release();
    // A lost term need not be released, and after a stop it is left to expire.
    if (!resigned && !is_lost && !options.stop.stop_requested()) {
      return std::unexpected(std::move(resigned).error());
    }
  }
  return {};
}

Result<std::optional<Leader>> LeaderElection::leader() { return leader_in(provider_.look(name_)); }

Result<std::optional<Leader>> LeaderElection::wait_for_change(
    std::optional<base::FencingToken> known, base::Duration wait, const std::stop_token& stop) {
  locks::steps::ThreadWaker waker;
  ChangeSteps steps(provider_.store(), provider_.clock(), name_, known, wait, waker);
  locks::steps::run_blocking(steps, stop, provider_.store(), provider_.clock(), waker);
  return std::move(steps.outcome());
}

}  // namespace holdfast::recipes
