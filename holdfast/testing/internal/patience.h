#pragma once

#include <chrono>
#include <latch>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::testing::internal {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

// Scales a number of rounds or threads: a sanitizer makes each about ten times as slow.
inline constexpr int kSanitizedShare = 8;
constexpr int scaled(int plain) { return kSanitized ? plain / kSanitizedShare : plain; }

// After this long, a case stops waiting and fails. It is not a limit for how long anything should
// take: a passing case does not wait this long.
inline constexpr std::chrono::seconds kPatience{200};

// Tests the condition repeatedly, and returns whether it became true. `between` is called after
// each failed test.
template <class Condition, class Between>
bool eventually(Condition&& condition, Between&& between) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= give_up) {
      return false;
    }
    between();
  }
  return true;
}

template <class Condition>
bool eventually(Condition&& condition) {
  return eventually(std::forward<Condition>(condition),
                    [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
}

// Runs `work(0)` to `work(count - 1)`, each in its own thread, all started together.
template <class Work>
void together(int count, Work&& work) {
  std::latch start(count);
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      work(i);
    });
  }
}

}  // namespace holdfast::testing::internal
