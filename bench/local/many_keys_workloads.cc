#include "bench/local/alternate.h"
#include "bench/local/contender.h"
#include "bench/local/contenders/floor.h"
#include "bench/local/contenders/holdfast.h"
#include "bench/local/contenders/map.h"
#include "bench/local/contenders/tbb.h"
#include "bench/local/workload.h"

namespace holdfast::bench {

Rows run_random_keys(const Workload& self, const Context& context) {
  return for_threads({1, 2, 8}, [&](std::size_t threads) {
    const auto rings = warm_rings(context.keys, threads);
    const auto make_step = [&](ExclusiveContender auto& locks, std::size_t thread) {
      return [&locks, &ring = rings[thread]](std::uint64_t i) {
        const auto guard = locks.lock(ring.at(i));
        critical_section();
      };
    };
    return alternate_all<HoldfastKeyLock, TbbKeyLock<>, MapKeyLock, OwnMutexFloor>(
        self, context, threads, make_step);
  });
}

Rows run_zipf_mix(const Workload& self, const Context& context) {
  return for_threads({2, 8}, [&](std::size_t threads) {
    const auto rings = zipf_rings(context.keys, threads);
    const auto make_step = [&](SharedContender auto& locks, std::size_t thread) {
      return [&locks, &ring = rings[thread]](std::uint64_t i) {
        const MixedDraw& draw = ring.at(i);
        if (draw.exclusive) {
          const auto guard = locks.lock(draw.key);
          critical_section();
        } else {
          const auto guard = locks.lock_shared(draw.key);
          critical_section();
        }
      };
    };
    return alternate_all<HoldfastKeyLock, TbbKeyLock<>, MapKeyLock>(self, context, threads,
                                                                    make_step);
  });
}

}  // namespace holdfast::bench
