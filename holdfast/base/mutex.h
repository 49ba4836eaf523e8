#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Thread-safety annotations: Clang checks them in `./test --lint`; to other compilers they are
// nothing.
#if defined(__clang__)
#define HOLDFAST_ANNOTATE(annotation) __attribute__((annotation))
#else
#define HOLDFAST_ANNOTATE(annotation)
#endif

// A member that is read and written only while `mutex` is held.
#define HOLDFAST_GUARDED_BY(mutex) HOLDFAST_ANNOTATE(guarded_by(mutex))
// A function that is called only while `...` are held.
#define HOLDFAST_REQUIRES(...) HOLDFAST_ANNOTATE(requires_capability(__VA_ARGS__))
// A function that is called only while `...` are not held: it locks them itself.
#define HOLDFAST_EXCLUDES(...) HOLDFAST_ANNOTATE(locks_excluded(__VA_ARGS__))
// A function whose locking the analysis cannot follow. Say why beside it.
#define HOLDFAST_UNCHECKED HOLDFAST_ANNOTATE(no_thread_safety_analysis)

namespace holdfast::base {

// A `std::mutex` that Clang's thread-safety analysis knows. It costs what a `std::mutex` costs.
class HOLDFAST_ANNOTATE(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() HOLDFAST_ANNOTATE(acquire_capability()) { mutex_.lock(); }
  bool try_lock() HOLDFAST_ANNOTATE(try_acquire_capability(true)) { return mutex_.try_lock(); }
  void unlock() HOLDFAST_ANNOTATE(release_capability()) { mutex_.unlock(); }

 private:
  friend class ConditionVariable;
  std::mutex mutex_;
};

// Holds a `Mutex` until the end of its scope. `unlock` and `lock` open it in between.
class HOLDFAST_ANNOTATE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HOLDFAST_ANNOTATE(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() HOLDFAST_ANNOTATE(release_capability()) {
    if (holds_) {
      mutex_.unlock();
    }
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() HOLDFAST_ANNOTATE(acquire_capability()) {
    mutex_.lock();
    holds_ = true;
  }
  void unlock() HOLDFAST_ANNOTATE(release_capability()) {
    holds_ = false;
    mutex_.unlock();
  }

 private:
  Mutex& mutex_;
  bool holds_ = true;
};

// A `std::condition_variable` for a `Mutex`. Every wait may return without a notification, so
// callers wait in a loop over their condition, which the analysis then sees under the mutex:
//
//   base::MutexLock lock(mutex_);
//   while (queue_.empty()) {
//     filled_.wait(mutex_);
//   }
class ConditionVariable {
 public:
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

  // Opens `mutex`, blocks until notified, and locks it again.
  void wait(Mutex& mutex) HOLDFAST_REQUIRES(mutex) {
    Adopted lock(mutex);
    condition_.wait(lock.native);
  }

  // Blocks until notified, at most for `time` or until `deadline`.
  template <class Rep, class Period>
  std::cv_status wait_for(Mutex& mutex, std::chrono::duration<Rep, Period> time)
      HOLDFAST_REQUIRES(mutex) {
    Adopted lock(mutex);
    return condition_.wait_for(lock.native, time);
  }
  template <class Clock, class Duration>
  std::cv_status wait_until(Mutex& mutex, std::chrono::time_point<Clock, Duration> deadline)
      HOLDFAST_REQUIRES(mutex) {
    Adopted lock(mutex);
    return condition_.wait_until(lock.native, deadline);
  }

 private:
  // The mutex as the standard's condition variable wants it; it stays locked when this ends.
  struct Adopted {
    explicit Adopted(Mutex& mutex) : native(mutex.mutex_, std::adopt_lock) {}
    ~Adopted() { native.release(); }
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;

    std::unique_lock<std::mutex> native;
  };

  std::condition_variable condition_;
};

}  // namespace holdfast::base
