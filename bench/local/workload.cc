#include <array>

#include "bench/local/workload.h"

namespace holdfast::bench {

std::span<const Workload> workloads() {
  static constexpr auto kWorkloads = std::to_array<Workload>({
      {"W1", "lock and unlock random uncontended keys", run_random_keys},
      {"W2", "one hot key, exclusive, a tiny section", run_hot_exclusive},
      {"W3", "one hot key, shared", run_hot_shared},
      {"W4", "keys by Zipf's law, 90 % shared, 10 % exclusive", run_zipf_mix},
      {"W5", "lease and unlock random keys", run_leases},
      {"W5b", "the same, with as many other leases in the table", run_resident_leases},
      {"W6", "memory per held key, and memory left after release", run_memory},
      {"W7", "sweep of a table full of expired leases", run_sweep},
  });
  return kWorkloads;
}

}  // namespace holdfast::bench
