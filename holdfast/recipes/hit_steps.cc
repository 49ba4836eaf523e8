#include <holdfast/recipes/hit_steps.h>

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
using locks::steps::Answer;
using locks::steps::Step;
using store::HitOutcome;

// A store that answers "not allowed, try at once" does not make the waiter spin.
constexpr Duration kLeastPause = std::chrono::milliseconds(5);

// Spreads waiters for the same moment, so that they do not all ask at once.
Duration jittered(Duration pause) {
  constexpr Duration kLeast = std::chrono::milliseconds(1);
  constexpr Duration kMost = std::chrono::milliseconds(50);
  const Duration range = std::clamp(pause / 16, kLeast, kMost);
  const auto part =
      static_cast<Duration::rep>(base::random_u64() % static_cast<std::uint64_t>(range.count()));
  return kLeast + Duration(part);
}

std::optional<base::Error> refusal(std::string_view key, bool is_nothing_to_pass) {
  if (is_nothing_to_pass) {
    return base::Error{ErrorCode::invalid_argument, "none are to pass: ask is_throttled instead"};
  }
  if (key.empty()) {
    return base::Error{ErrorCode::invalid_argument, "the key of a throttle is empty"};
  }
  return std::nullopt;
}

}  // namespace

HitSteps::HitSteps(const ThrottleOptions& options, std::string_view key, std::uint32_t count,
                   Deadline until, std::optional<base::Error> refused)
    : options_(options),
      name_(options.prefix + std::string(key)),
      hit_{.limit = options.limit,
           .period = options.period,
           .window = options.window,
           .count = count},
      until_(until),
      refused_(std::move(refused)) {}

HitSteps::HitSteps(const ThrottleOptions& options, std::string_view key, std::uint32_t count,
                   Duration wait)
    : HitSteps(options, key, count, Deadline::after(*options.clock, wait),
               refusal(key, count == 0)) {}

HitSteps::HitSteps(const ThrottleOptions& options, std::string_view key)
    : HitSteps(options, key, 0, Deadline::at(base::TimePoint::min()), refusal(key, false)) {}

Step HitSteps::start() {
  if (refused_) {
    outcome_ = std::unexpected(*refused_);
    return {};
  }
  return ask();
}

Step HitSteps::on(Answer&& answer) {
  if (std::holds_alternative<locks::steps::Woken>(answer)) {
    return ask();
  }
  outcome_ = std::get<Result<HitOutcome>>(std::move(answer));
  return outcome_ && !outcome_->allowed ? pause() : Step();
}

Step HitSteps::ask() {
  if (is_cancelled()) {
    outcome_ = fail(ErrorCode::cancelled, "the wait was cancelled");
    return {};
  }
  return {.kind = Step::Kind::hit,
          .name = name_,
          .hit = &hit_,
          .deadline = Deadline::after(base::steady_clock(), options_.timeout)};
}

Step HitSteps::pause() {
  const base::TimePoint now = options_.clock->now();
  const base::TimePoint next = base::add_saturating(now, outcome_->retry_after);
  if (until_.expired(now) || next > until_.when()) {
    return {};
  }
  // Spread if there is time, but never beyond the wait.
  const Duration pause = std::max(outcome_->retry_after, kLeastPause);
  const base::TimePoint again = base::add_saturating(now, pause);
  return Step::wait_until(std::min(base::add_saturating(again, jittered(pause)), until_.when()));
}

Result<bool> HitSteps::allowed() const {
  return outcome_ ? Result<bool>(outcome_->allowed) : std::unexpected(outcome_.error());
}

}  // namespace holdfast::recipes
