#pragma once

#include <stop_token>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/log.h>
#include <holdfast/base/mutex.h>
#include <holdfast/locks/metrics.h>
#include <holdfast/recipes/internal/breaker.h>

namespace holdfast::recipes::internal {

// A Breaker for many threads, which logs and counts each change. Thread-safe; blocks only as long
// as the log and the metrics do.
class Circuit {
 public:
  // The clock must outlive it.
  Circuit(const Breaker::Limits& limits, const base::Clock& clock, base::Logger logger,
          locks::Metrics metrics);

  [[nodiscard]] CircuitState state() const;
  [[nodiscard]] bool would_admit() const;
  [[nodiscard]] bool admit();
  void on_answer();
  void on_failure(const base::Error& error);
  void on_nothing();
  // Returns the failure with which the circuit last opened.
  [[nodiscard]] base::Error outage() const;

  // Fires when the circuit next opens. Get it before calling `would_admit`, so that nothing is
  // missed.
  [[nodiscard]] std::stop_token next_opening() const;

 private:
  void tell(base::LogLevel level, std::string_view text, std::string_view counter) const;

  const base::Clock& clock_;
  const base::Logger logger_;
  const locks::Metrics metrics_;

  mutable base::Mutex mutex_;
  Breaker breaker_ HOLDFAST_GUARDED_BY(mutex_);
  std::stop_source opening_ HOLDFAST_GUARDED_BY(mutex_);
  // The time at which it left `closed`, and the reason why it last opened.
  base::TimePoint opened_at_ HOLDFAST_GUARDED_BY(mutex_){};
  base::Error outage_ HOLDFAST_GUARDED_BY(mutex_){base::ErrorCode::unavailable, ""};
};

}  // namespace holdfast::recipes::internal
