#pragma once

#include <chrono>
#include <string>

namespace holdfast::bench {

// The data of a key in the other tables. They read the precise clock once per call, like most code.
struct Lease {
  using Clock = std::chrono::steady_clock;

  Clock::time_point expiry;
  std::string owner;
};

}  // namespace holdfast::bench
