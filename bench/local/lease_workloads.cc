#include <string>

#include <fmt/format.h>

#include "bench/local/alternate.h"
#include "bench/local/contender.h"
#include "bench/local/contenders/cuckoo.h"
#include "bench/local/contenders/holdfast.h"
#include "bench/local/contenders/map.h"
#include "bench/local/contenders/tbb.h"
#include "bench/local/leasing.h"
#include "bench/local/workload.h"

namespace holdfast::bench {

namespace {

// No two threads use the same key, so each call must succeed.
template <LeaseContender T>
void lease_and_unlease(T& leases, const std::string& key) {
  if (!leases.try_lock(key, kOwner, kTtl)) fail_broken(T::kName, "it refused a free key");
  if (!leases.unlock(key, kOwner)) fail_broken(T::kName, "it forgot a lease");
}

}  // namespace

Rows run_leases(const Workload& self, const Context& context) {
  return for_threads({1, 2}, [&](std::size_t threads) {
    const auto rings = warm_rings(context.keys, threads);
    const auto make_step = [&](LeaseContender auto& leases, std::size_t thread) {
      return [&leases, &ring = rings[thread]](std::uint64_t i) {
        lease_and_unlease(leases, ring.at(i));
      };
    };
    return alternate_all<HoldfastLeases, TbbLeases<>, MapLeases, CuckooLeases>(self, context,
                                                                               threads, make_step);
  });
}

Rows run_resident_leases(const Workload& self, const Context& context) {
  const Keys residents = make_keys("holder:", context.keys.size());
  const auto ring = cold_ring(context.keys);
  const auto move_in = [&]<LeaseContender T>(T& leases) {
    context.progress.show(fmt::format("{}: filling {}", self.name, T::kName));
    lease_all(leases, residents, kLongTtl);
  };
  const auto make_step = [&](LeaseContender auto& leases, std::size_t) {
    return [&](std::uint64_t i) { lease_and_unlease(leases, *ring.at(i)); };
  };
  return alternate_all<HoldfastLeases, TbbLeases<>, MapLeases, CuckooLeases>(self, context, 1,
                                                                             make_step, move_in);
}

}  // namespace holdfast::bench
