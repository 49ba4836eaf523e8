#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "bench/locks/measure.h"

namespace holdfast::bench_locks {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double time_per_call(Seconds time, const std::function<void()>& once) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::size_t calls = 0;
  Seconds spent{0};
  // The clock is read rarely, because some calls are shorter than reading it.
  for (std::size_t batch = 1; spent < time; batch = std::min<std::size_t>(batch * 2, 1024)) {
    for (std::size_t i = 0; i < batch && spent < time; ++i) {
      once();
    }
    calls += batch;
    spent = Clock::now() - begin;
  }
  return spent.count() / static_cast<double>(calls);
}

std::vector<double> alternate(Seconds time, const std::vector<std::function<void()>>& contenders) {
  constexpr int kRounds = 7;
  std::vector<std::vector<double>> seen(contenders.size());
  for (const auto& once : contenders) {
    once();  // opens what later calls find open
  }
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      seen[i].push_back(time_per_call(time / kRounds, contenders[i]));
    }
  }
  std::vector<double> medians;
  medians.reserve(seen.size());
  for (auto& values : seen) {
    medians.push_back(median(std::move(values)));
  }
  return medians;
}

Seconds cpu_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return Seconds(static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace holdfast::bench_locks
