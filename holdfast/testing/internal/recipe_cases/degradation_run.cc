#include <holdfast/testing/internal/recipe_cases/degradation_run.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using recipes::CircuitState;
using recipes::DegradationOptions;
using recipes::Protection;
using recipes::WhenUnavailable;

}  // namespace

locks::AcquireOptions patient_options() {
  locks::AcquireOptions options = LockRun::options();
  options.wait = 24h;
  return options;
}

DegradationRun::DegradationRun(LockRun& run, WhenUnavailable policy)
    : DegradationRun(run, DegradationOptions{.when_unavailable = policy,
                                             .failures = kFailures,
                                             .retry_after = run.ttl() / 2,
                                             .answer_within = kPatience}) {}

DegradationRun::DegradationRun(LockRun& run, DegradationOptions options)
    : run_(run),
      options_(listening(std::move(options))),
      provider_(run.recipes().degradable(run.shared_network(), options_)) {}

DegradationOptions DegradationRun::listening(DegradationOptions options) {
  options.provider = run_.with_clock(std::move(options.provider));
  options.provider.logger = base::Logger([this](base::LogLevel, std::string_view text) {
    const std::lock_guard guard(mutex_);
    said_.emplace_back(text);
  });
  options.provider.metrics.count = [this](std::string_view counter, std::string_view,
                                          std::uint64_t) {
    const std::lock_guard guard(mutex_);
    ++counted_[std::string(counter)];
  };
  return options;
}

std::unique_ptr<DegradableLockFace> DegradationRun::must_acquire(const std::string& name) {
  return must_have(provider_->try_acquire(name, LockRun::options()));
}

std::optional<Protection> DegradationRun::protection_of_try(const std::string& name) {
  const auto lock = provider_->try_acquire(name, LockRun::options());
  return lock && *lock ? std::optional((*lock)->protection()) : std::nullopt;
}

void DegradationRun::go_away_and_notice() {
  run_.network().go_away();
  for (std::uint32_t i = 0; i < options_.failures; ++i) {
    static_cast<void>(provider_->try_acquire("to notice", LockRun::options()));
  }
  EXPECT_EQ(provider_->state(), CircuitState::open);
}

void DegradationRun::pass_the_pause() { run_.pass(options_.retry_after * 5 / 4); }

int DegradationRun::counted(const std::string& counter) const {
  const std::lock_guard guard(mutex_);
  const auto found = counted_.find(counter);
  return found != counted_.end() ? found->second : 0;
}

bool DegradationRun::has_said(std::string_view part) const {
  const std::lock_guard guard(mutex_);
  return std::ranges::any_of(said_, [&](const auto& text) { return text.contains(part); });
}

}  // namespace holdfast::testing::internal
