#pragma once

#include <chrono>
#include <functional>
#include <vector>

namespace holdfast::bench_locks {

using Seconds = std::chrono::duration<double>;

[[nodiscard]] double median(std::vector<double> values);

// Returns how long one call of `once` takes, in seconds, over as many calls as fit into `time`.
[[nodiscard]] double time_per_call(Seconds time, const std::function<void()>& once);

// Lets the contenders take turns for some rounds of `time` each; returns the median of each.
[[nodiscard]] std::vector<double> alternate(Seconds time,
                                            const std::vector<std::function<void()>>& contenders);

// Returns the processor time of this process so far.
[[nodiscard]] Seconds cpu_time();

}  // namespace holdfast::bench_locks
