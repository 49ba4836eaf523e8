#pragma once

#include <chrono>
#include <functional>
#include <vector>

namespace holdfast::bench_locks {

using Seconds = std::chrono::duration<double>;

[[nodiscard]] double median(std::vector<double> values);

// How long one call of `once` takes, in seconds: as many calls as fit into `time`.
[[nodiscard]] double time_per_call(Seconds time, const std::function<void()>& once);

// The contenders take turns for some rounds of `time` each; the median of each, in its order.
[[nodiscard]] std::vector<double> alternate(Seconds time,
                                            const std::vector<std::function<void()>>& contenders);

// Of this process so far.
[[nodiscard]] Seconds cpu_time();

}  // namespace holdfast::bench_locks
