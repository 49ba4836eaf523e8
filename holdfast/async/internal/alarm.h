#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include <holdfast/base/clock.h>
#include <holdfast/locks/steps/bell.h>

namespace holdfast::async::internal {

// Tells any number of sleepers when their time has come, by any clock, with one thread. Thread-safe;
// outlives its sleepers.
class Alarm {
 public:
  class Sleeper {
   public:
    virtual ~Sleeper() = default;
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;

    // From the alarm's thread; quick, and does not come back to the alarm.
    virtual void on_time() noexcept = 0;

   protected:
    Sleeper() = default;

   private:
    friend class Alarm;
    std::optional<std::multimap<base::TimePoint, Sleeper*>::iterator> place_;  // the alarm's
  };

  // `clock` outlives it. base::Exception: limit_exceeded if there is no thread to be had.
  explicit Alarm(const base::Clock& clock);
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // One time for each sleeper.
  void set(Sleeper& sleeper, base::TimePoint when);
  // Afterwards on_time() is not running, and will not run.
  void cancel(Sleeper& sleeper);

 private:
  using Times = std::multimap<base::TimePoint, Sleeper*>;

  void run(const std::stop_token& stop);

  const base::Clock& clock_;
  std::mutex mutex_;
  Times times_;  // protected by mutex_
  locks::steps::Bell bell_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace holdfast::async::internal
