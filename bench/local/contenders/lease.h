#pragma once

#include <chrono>
#include <string>

namespace holdfast::bench {

// What the peers keep for a key. They read the precise clock once per call, like most code does.
struct Lease {
  using Clock = std::chrono::steady_clock;

  Clock::time_point expiry;
  std::string owner;
};

}  // namespace holdfast::bench
