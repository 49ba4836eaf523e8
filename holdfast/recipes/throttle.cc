#include <holdfast/recipes/throttle.h>

#include <string>
#include <utility>

#include <holdfast/locks/steps/run_blocking.h>
#include <holdfast/recipes/hit_steps.h>
#include <holdfast/store/forget_hits.h>

namespace holdfast::recipes {

namespace {

using base::Duration;
using base::ErrorCode;
using base::Result;
using store::HitOutcome;

void run(HitSteps& steps, store::LeaseStore& store, const base::Clock& clock,
         const std::stop_token& stop = {}) {
  locks::steps::ThreadWaker waker;
  locks::steps::run_blocking(steps, stop, store, clock, waker);
}

}  // namespace

void check(const ThrottleOptions& options) {
  const auto require = [](bool condition, const char* message) {
    if (!condition) {
      base::throw_error({ErrorCode::invalid_argument, message});
    }
  };
  require(options.limit > 0, "ThrottleOptions: the limit is zero, nothing would ever pass");
  require(options.timeout > Duration::zero(), "ThrottleOptions: the timeout is not positive");
  require(options.clock != nullptr, "ThrottleOptions: the clock is null");
}

Throttle::Throttle(std::shared_ptr<store::LeaseStore> store, ThrottleOptions options)
    : store_(std::move(store)), options_(std::move(options)) {
  if (store_ == nullptr) {
    base::throw_error({ErrorCode::invalid_argument, "the store is null"});
  }
  check(options_);
}

Throttle::Throttle(const locks::LockProvider& provider, ThrottleOptions options)
    : Throttle(std::shared_ptr<store::LeaseStore>(provider.core(), &provider.store()),
               std::move(options)) {}

Result<bool> Throttle::try_pass(std::string_view key, std::uint32_t count) {
  return pass(key, Duration::zero(), {}, count);
}

Result<bool> Throttle::pass(std::string_view key, Duration wait, const std::stop_token& stop,
                            std::uint32_t count) {
  HitSteps steps(options_, key, count, wait);
  run(steps, *store_, *options_.clock, stop);
  return steps.allowed();
}

Result<std::uint32_t> Throttle::hits(std::string_view key) {
  const auto outcome = ask(key);
  return outcome ? Result<std::uint32_t>(outcome->hits) : std::unexpected(outcome.error());
}

Result<std::uint32_t> Throttle::reset(std::string_view key) {
  const auto outcome = store_->hit(options_.prefix + std::string(key), store::forget_hits(),
                                   base::Deadline::after(base::steady_clock(), options_.timeout));
  return outcome ? Result<std::uint32_t>(outcome->hits) : std::unexpected(outcome.error());
}

Result<bool> Throttle::is_throttled(std::string_view key) {
  const auto outcome = ask(key);
  return outcome ? Result<bool>(!outcome->allowed) : std::unexpected(outcome.error());
}

Result<Duration> Throttle::retry_after(std::string_view key) {
  const auto outcome = ask(key);
  return outcome ? Result<Duration>(outcome->retry_after) : std::unexpected(outcome.error());
}

Result<HitOutcome> Throttle::ask(std::string_view key) {
  HitSteps steps(options_, key);
  run(steps, *store_, *options_.clock);
  return std::move(steps.outcome());
}

}  // namespace holdfast::recipes
