#include <holdfast/recipes/leader_election.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include <holdfast/base/deadline.h>
#include <holdfast/base/saturate.h>

namespace holdfast::recipes {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using locks::AcquireOptions;
using locks::Lock;

constexpr base::Duration kAskEvery = std::chrono::milliseconds(250);

// Fires with the first of two tokens.
class Either {
 public:
  Either(std::stop_token one, std::stop_token other)
      : one_(std::move(one), Request{source_}), other_(std::move(other), Request{source_}) {}

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  struct Request {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };

  std::stop_source source_;
  const std::stop_callback<Request> one_;
  const std::stop_callback<Request> other_;
};

}  // namespace

LeaderElection::LeaderElection(locks::LockProvider& provider, std::string name)
    : provider_(provider), name_(std::move(name)) {}

Result<std::optional<Lock>> LeaderElection::campaign(const AcquireOptions& options) {
  AcquireOptions how = options;
  how.permits = store::Permits::mutex();
  how.wait = options.wait.value_or(base::Duration::max());
  return provider_.try_acquire(name_, how);
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
      const Either over(term.lost(), options.stop);
      work({.token = term.token(), .over = over.token()});
    }
    const bool is_lost = term.lost().stop_requested();
    auto resigned = term.release();
    // Of what is lost nothing has to be given back, and who stops leaves it to run out.
    if (!resigned && !is_lost && !options.stop.stop_requested()) {
      return std::unexpected(std::move(resigned).error());
    }
  }
  return {};
}

Result<std::optional<Leader>> LeaderElection::leader() {
  const auto state = provider_.look(name_);
  if (!state) {
    return std::unexpected(state.error());
  }
  if (!*state) {
    return std::nullopt;
  }
  const store::Holder& holder = (*state)->holders.front();
  return Leader{.owner = holder.owner,
                .token = holder.token,
                .leads_for = holder.held_for,
                .time_left = holder.time_left};
}

Result<std::optional<Leader>> LeaderElection::wait_for_change(
    std::optional<base::FencingToken> known, base::Duration wait, std::stop_token stop) {
  const base::Clock& clock = provider_.clock();
  const auto deadline = base::Deadline::after(clock, wait);
  std::stop_source hinted;
  std::mutex mutex;  // of `hinted`, which each pause replaces
  const auto watch = provider_.store().watch(name_, [&] {
    const std::lock_guard guard(mutex);
    hinted.request_stop();
  });
  if (!watch && watch.error().code == ErrorCode::invalid_argument) {
    return std::unexpected(watch.error());
  }
  for (;;) {
    std::stop_token hint;
    {
      const std::lock_guard guard(mutex);
      hinted = std::stop_source();
      hint = hinted.get_token();
    }
    auto now_leads = leader();
    if (!now_leads) {
      return now_leads;
    }
    const auto token = *now_leads ? std::optional((*now_leads)->token) : std::nullopt;
    if (token != known || deadline.expired(clock.now())) {
      return now_leads;
    }
    if (stop.stop_requested()) {
      return fail(ErrorCode::cancelled, "the wait was cancelled");
    }
    const Either woken(hint, stop);
    static_cast<void>(clock.sleep_until(
        std::min(base::add_saturating(clock.now(), kAskEvery), deadline.when()), woken.token()));
  }
}

}  // namespace holdfast::recipes
