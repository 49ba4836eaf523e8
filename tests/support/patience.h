#pragma once

#include <chrono>
#include <thread>

namespace holdfast::tests {

// After this long, what a test waits for is taken not to come at all. Never how long anything
// should take.
inline constexpr std::chrono::seconds kPatience{200};

template <class Condition>
bool eventually(Condition&& condition) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= give_up) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace holdfast::tests
