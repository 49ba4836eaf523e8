#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <stop_token>
#include <thread>

#include <holdfast/base/clock.h>
#include <holdfast/base/mutex.h>
#include <holdfast/locks/steps/waker.h>

namespace holdfast::async::internal {

// A timer for any number of sleepers, by any clock, with one thread. Thread-safe; must outlive its
// sleepers. In a forked child it must not be destroyed: see EngineRoom.
class Timer {
 public:
  class Sleeper {
   public:
    virtual ~Sleeper() = default;
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;

    // Called from the timer's thread; must be quick, and must not call the timer.
    virtual void on_time() noexcept = 0;

   protected:
    Sleeper() = default;

   private:
    friend class Timer;
    std::optional<std::multimap<base::TimePoint, Sleeper*>::iterator> place_;  // used by the timer
  };

  // `clock` must outlive it. Throws base::Exception: limit_exceeded if no thread can be started.
  explicit Timer(const base::Clock& clock);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Sets the time of a sleeper; each has one.
  void set(Sleeper& sleeper, base::TimePoint when);
  // Cancels. Afterwards on_time() is not running, and will not run.
  void cancel(Sleeper& sleeper);

 private:
  using Times = std::multimap<base::TimePoint, Sleeper*>;

  // The number of sleepers that are woken before other threads may have the mutex.
  static constexpr std::size_t kMostAtOnce = 64;

  void run(const std::stop_token& stop);
  // Wakes some of those whose time has come; returns the time of the next one.
  base::TimePoint wake_some(base::TimePoint now);

  const base::Clock& clock_;
  base::Mutex mutex_;
  Times times_ HOLDFAST_GUARDED_BY(mutex_);
  locks::steps::ThreadWaker waker_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace holdfast::async::internal
