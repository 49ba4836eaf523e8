#pragma once

#include <mutex>
#include <stop_token>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/log.h>
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

  mutable std::mutex mutex_;
  Breaker breaker_;              // protected by mutex_
  std::stop_source opening_;     // protected by mutex_
  base::TimePoint opened_at_{};  // protected by mutex_; when it left `closed`
  base::Error outage_{base::ErrorCode::unavailable, ""};  // protected by mutex_; why it last opened
};

}  // namespace holdfast::recipes::internal
