#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "bench/local/alternate.h"
#include "bench/local/contender.h"
#include "bench/local/contenders/floor.h"
#include "bench/local/contenders/holdfast.h"
#include "bench/local/contenders/map.h"
#include "bench/local/contenders/tbb.h"
#include "bench/local/workload.h"

namespace holdfast::bench {

namespace {

const std::string& hot_key(const Context& context) { return context.keys.front(); }

// A lock, and a plain counter that only this lock protects: it misses increments if the lock does
// not exclude.
template <ExclusiveContender T>
struct WithCounter {
  static constexpr std::string_view kName = T::kName;

  T locks;
  std::uint64_t expected = 0;
  alignas(64) std::uint64_t counter = 0;

  void verify(const Timing& timing) {
    expected += timing.operations;
    if (counter != expected) {
      fail_broken(kName, fmt::format("{} exclusive sections counted {}", expected, counter));
    }
  }
};

}  // namespace

Rows run_hot_exclusive(const Workload& self, const Context& context) {
  const auto make_step = [&](auto& state, std::size_t) {
    return [&state, &key = hot_key(context)](std::uint64_t) {
      const auto guard = state.locks.lock(key);
      // Not in one instruction, which could hide that two threads are here at the same time.
      const std::uint64_t seen = state.counter;
      critical_section();
      state.counter = seen + 1;
    };
  };
  return for_threads({1, 2, 8}, [&](std::size_t threads) {
    return alternate_all<WithCounter<HoldfastKeyLock>, WithCounter<TbbKeyLock<>>,
                         WithCounter<MapKeyLock>, WithCounter<HotMutexFloor>>(self, context,
                                                                              threads, make_step);
  });
}

Rows run_hot_shared(const Workload& self, const Context& context) {
  const auto make_step = [&](SharedContender auto& locks, std::size_t) {
    return [&locks, &key = hot_key(context)](std::uint64_t) {
      const auto guard = locks.lock_shared(key);
      critical_section();
    };
  };
  return for_threads({1, 2, 8}, [&](std::size_t threads) {
    return alternate_all<HoldfastKeyLock, TbbKeyLock<>, MapKeyLock, HotSharedMutexFloor>(
        self, context, threads, make_step);
  });
}

}  // namespace holdfast::bench
