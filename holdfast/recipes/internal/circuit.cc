#include <holdfast/recipes/internal/circuit.h>

#include <string>
#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/random.h>

namespace holdfast::recipes::internal {

Circuit::Circuit(const Breaker::Limits& limits, const base::Clock& clock, base::Logger logger,
                 locks::Metrics metrics)
    : clock_(clock), logger_(std::move(logger)), metrics_(std::move(metrics)), breaker_(limits) {}

CircuitState Circuit::state() const {
  const base::MutexLock guard(mutex_);
  return breaker_.state();
}

bool Circuit::would_admit() const {
  const base::MutexLock guard(mutex_);
  return breaker_.would_admit(clock_.now());
}

bool Circuit::admit() {
  {
    const base::MutexLock guard(mutex_);
    const CircuitState before = breaker_.state();
    if (!breaker_.admit(clock_.now())) {
      return false;
    }
    if (before == breaker_.state()) {
      return true;
    }
  }
  tell(base::LogLevel::info, "asking the lock store whether it is back", "breaker_probed");
  return true;
}

void Circuit::on_answer() {
  base::Duration away{};
  {
    const base::MutexLock guard(mutex_);
    const CircuitState before = breaker_.state();
    breaker_.on_answer();
    if (before == CircuitState::closed) {
      return;
    }
    away = clock_.now() - opened_at_;
  }
  tell(base::LogLevel::info,
       "the lock store is back, after " + base::short_duration(away) + ": locks protect again",
       "breaker_closed");
}

void Circuit::on_failure(const base::Error& error) {
  std::stop_source opening;
  base::Duration pause{};
  {
    const base::MutexLock guard(mutex_);
    const base::TimePoint now = clock_.now();
    const CircuitState before = breaker_.state();
    breaker_.on_failure(now, base::random_fraction());
    if (breaker_.state() != CircuitState::open || before == CircuitState::open) {
      return;
    }
    if (before == CircuitState::closed) {
      opened_at_ = now;
    }
    outage_ = error;
    pause = breaker_.retry_at() - now;
    opening = std::exchange(opening_, std::stop_source());
  }
  tell(base::LogLevel::warning,
       "the lock store is unavailable and is not asked for " + base::short_duration(pause) + ": " +
           base::to_string(error),
       "breaker_opened");
  opening.request_stop();
}

void Circuit::on_nothing() {
  const base::MutexLock guard(mutex_);
  breaker_.on_nothing();
}

base::Error Circuit::outage() const {
  const base::MutexLock guard(mutex_);
  return outage_;
}

std::stop_token Circuit::next_opening() const {
  const base::MutexLock guard(mutex_);
  return opening_.get_token();
}

void Circuit::tell(base::LogLevel level, std::string_view text, std::string_view counter) const {
  logger_.log(level, text);
  if (metrics_.count) {
    metrics_.count(counter, {}, 1);
  }
}

}  // namespace holdfast::recipes::internal
