#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace holdfast::bench {

using Seconds = std::chrono::duration<double>;

// Makes the compiler compute an unused value.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r"(value) : "memory");
}

// Represents the work under a lock: the compiler moves nothing across it. Unlike `keep(guard)` it
// does not force a guard out of the registers.
inline void critical_section() { asm volatile("" : : : "memory"); }

// Ends the program: the contender did not do its work, so its figures would be meaningless.
[[noreturn, gnu::cold]] void fail_broken(std::string_view contender, std::string_view what);

struct Timing {
  std::uint64_t operations = 0;
  Seconds wall{0};

  [[nodiscard]] double per_second() const { return static_cast<double>(operations) / wall.count(); }
};

// Works until `stop`, and returns the number of operations.
using ThreadLoop = std::function<std::uint64_t(std::size_t thread, const std::atomic<bool>& stop)>;

// Runs the loop in this many threads, which start together, for about `time`. The wall time is from
// the start of the first to the end of the last. Never in the calling thread: the C library's locks
// are cheaper in a process with one thread.
Timing run_threads(std::size_t threads, Seconds time, const ThreadLoop& loop);

// `make_step(thread)` returns a function that does the thread's operation number i.
template <class MakeStep>
Timing run_timed(std::size_t threads, Seconds time, const MakeStep& make_step) {
  return run_threads(threads, time, [&](std::size_t thread, const std::atomic<bool>& stop) {
    constexpr std::uint64_t kBatch = 64;
    auto step = make_step(thread);
    std::uint64_t done = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      for (const std::uint64_t end = done + kBatch; done != end; ++done) step(done);
    }
    return done;
  });
}

}  // namespace holdfast::bench
