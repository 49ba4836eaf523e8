#pragma once

#include <holdfast/base/deadline.h>

namespace holdfast::store {

// Hears the hints of a store in the thread of somebody who waits for one: another thread need not
// wake it then. One thread at a time does so; the others just wait.
//
// Thread-safe. Lives as long as its store. Whoever has begun goes on in the same thread, and ends;
// until then the store is not destroyed.
//
//   if (listener.begin()) {
//     while (!told && listener.hear(deadline)) {}
//     listener.end();
//   }
class Listener {
 public:
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // False, at once: another listens, or there is nothing to listen to.
  [[nodiscard]] virtual bool begin() noexcept = 0;
  // Sleeps until something has come, until it is roused, or until the deadline (of
  // base::steady_clock()). Calls back whoever watches the names of which it has heard. False: there
  // is nothing to listen to any more.
  [[nodiscard]] virtual bool hear(base::Deadline deadline) = 0;
  virtual void end() noexcept = 0;

  // Ends the hear() of whoever has begun, or its next one. Any thread, also under a mutex. Where
  // nobody listens, a later hear() may end for nothing.
  virtual void rouse() noexcept = 0;

 protected:
  Listener() = default;
  ~Listener() = default;
};

}  // namespace holdfast::store
