#pragma once

#include <sys/types.h>

namespace holdfast::bench_redis {

// A process that keeps a core busy while this object lives, at the lowest priority. A sleeping core
// wakes slowly, especially in a virtual machine; with a spinner none sleeps.
class Spinner {
 public:
  Spinner();
  ~Spinner();
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;

 private:
  pid_t process_;
};

}  // namespace holdfast::bench_redis
