#include <holdfast/recipes/throttle.h>

#include <algorithm>
#include <utility>

#include <holdfast/base/random.h>
#include <holdfast/base/saturate.h>

namespace holdfast::recipes {

namespace {

using base::Deadline;
using base::Duration;
using base::ErrorCode;
using base::fail;
using base::Result;
using store::HitOutcome;

// So that those who wait for the same moment do not all ask in it.
Duration jittered(Duration pause) {
  constexpr Duration kLeast = std::chrono::milliseconds(1);
  constexpr Duration kMost = std::chrono::milliseconds(50);
  const Duration range = std::clamp(pause / 16, kLeast, kMost);
  const auto part =
      static_cast<Duration::rep>(base::random_u64() % static_cast<std::uint64_t>(range.count()));
  return kLeast + Duration(part);
}

}  // namespace

Throttle::Throttle(std::shared_ptr<store::LeaseStore> store, ThrottleOptions options)
    : store_(std::move(store)), options_(std::move(options)) {
  const auto require = [](bool condition, const char* message) {
    if (!condition) {
      base::throw_error({ErrorCode::invalid_argument, message});
    }
  };
  require(store_ != nullptr, "the store is null");
  require(options_.limit > 0, "ThrottleOptions: the limit is zero, nothing would ever pass");
  require(options_.timeout > Duration::zero(), "ThrottleOptions: the timeout is not positive");
  require(options_.clock != nullptr, "ThrottleOptions: the clock is null");
}

Result<bool> Throttle::try_pass(std::string_view key, std::uint32_t count) {
  if (count == 0) {
    return fail(ErrorCode::invalid_argument, "none are to pass: ask is_throttled instead");
  }
  const auto outcome = ask(key, count, deadline());
  return outcome ? Result<bool>(outcome->allowed) : std::unexpected(outcome.error());
}

Result<bool> Throttle::pass(std::string_view key, Duration wait, std::stop_token stop,
                            std::uint32_t count) {
  if (count == 0) {
    return fail(ErrorCode::invalid_argument, "none are to pass: ask is_throttled instead");
  }
  const base::Clock& clock = *options_.clock;
  const Deadline until = Deadline::after(clock, wait);
  for (;;) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::cancelled, "the wait was cancelled");
    }
    const auto outcome = ask(key, count, deadline());
    if (!outcome) {
      return std::unexpected(outcome.error());
    }
    if (outcome->allowed) {
      return true;
    }
    const base::TimePoint now = clock.now();
    const base::TimePoint next = base::add_saturating(now, outcome->retry_after);
    if (!until.is_never() && next > until.when()) {
      return false;
    }
    // Where there is time, not all in the same moment; but never beyond the wait.
    static_cast<void>(clock.sleep_until(
        std::min(base::add_saturating(next, jittered(outcome->retry_after)), until.when()), stop));
  }
}

Result<std::uint32_t> Throttle::hits(std::string_view key) {
  const auto outcome = ask(key, 0, deadline());
  return outcome ? Result<std::uint32_t>(outcome->hits) : std::unexpected(outcome.error());
}

Result<bool> Throttle::is_throttled(std::string_view key) {
  const auto outcome = ask(key, 0, deadline());
  return outcome ? Result<bool>(!outcome->allowed) : std::unexpected(outcome.error());
}

Result<Duration> Throttle::retry_after(std::string_view key) {
  const auto outcome = ask(key, 0, deadline());
  return outcome ? Result<Duration>(outcome->retry_after) : std::unexpected(outcome.error());
}

Result<HitOutcome> Throttle::ask(std::string_view key, std::uint32_t count, Deadline by) {
  if (key.empty()) {
    return fail(ErrorCode::invalid_argument, "the key of a throttle is empty");
  }
  std::string name = options_.prefix;
  name += key;
  return store_->hit(name,
                     {.limit = options_.limit,
                      .period = options_.period,
                      .window = options_.window,
                      .count = count},
                     by);
}

Deadline Throttle::deadline() const {
  return Deadline::after(base::steady_clock(), options_.timeout);
}

}  // namespace holdfast::recipes
