#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <tests/support/temporary_folder.h>

#include <holdfast/engines/memory/memory_repository.h>
#include <holdfast/engines/sqlite/sqlite_repository.h>
#include <holdfast/local/key_lock.h>
#include <holdfast/objects/object_host.h>

#include "bench/objects/counter.h"
#include "bench/objects/workloads.h"

namespace holdfast::bench_objects {

namespace {

using objects::HostOptions;
using objects::ObjectHost;

}  // namespace

std::vector<double> take_turns(Seconds time, const std::vector<Contender>& contenders) {
  constexpr int kRounds = 5;
  std::vector<std::vector<double>> seen(contenders.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      seen[i].push_back(contenders[i](time / kRounds).per_second());
    }
  }
  std::vector<double> medians;
  for (auto& rates : seen) {
    medians.push_back(bench_locks::median(std::move(rates)));
  }
  return medians;
}

Report create_and_erase(Seconds time) {
  HostOptions options;
  options.save_every.reset();
  ObjectHost host(std::make_shared<engines::memory::MemoryRepository>(), options);
  host.register_type<Counter>("counter");
  local::KeyLock keys;
  constexpr std::size_t kIds = 4096;  // of each thread
  const auto over_ids = [](const auto& step) -> Contender {
    return [&step](Seconds round) {
      return bench::run_timed(kThreads, round, [&step](std::size_t thread) {
        return [&step, ids = ids_of(thread, kIds)](std::uint64_t i) { step(ids[i % kIds]); };
      });
    };
  };
  const auto live = [&](const std::string& id) {
    base::value_or_throw(host.create<Counter>(id));
    base::value_or_throw(host.erase<Counter>(id));
  };
  const auto lock_twice = [&](const std::string& id) {
    for (int i = 0; i < 2; ++i) {
      const auto guard = keys.lock(id);
      bench::critical_section();
    }
  };
  const auto rates = take_turns(time, {over_ids(live), over_ids(lock_twice)});
  if (host.count() != 0) bench::fail_broken("ObjectHost", "objects are left");
  return {.workload = "O2",
          .about = "create + erase on the memory repository, 2 threads, distinct ids",
          .rows = {{"create + erase", rates[0] / 1e6, "M/s"},
                   {"two bare KeyLock pairs (exclusive)", rates[1] / 1e6, "M/s"},
                   {"one create + erase, in its thread", 2e9 / rates[0], "ns"}},
          .targets = {{"at least 1 M/s", rates[0] >= 1e6}}};
}

Report saves(Seconds time) {
  const tests::TemporaryFolder folder;
  HostOptions options;
  options.save_every.reset();
  ObjectHost host(
      base::value_or_throw(engines::sqlite::open_repository({.file = folder / "objects.db"})),
      options);
  host.register_type<Counter>("counter");
  const auto ids = ids_of(0, 1000);
  const auto change = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      base::value_or_throw(host.call<&Counter::add>(ids[i], 1));
    }
  };
  const double batched = bench_locks::time_per_call(time / 2, [&] {
    change(ids.size());
    base::value_or_throw(host.save_all());
  });
  const double single = bench_locks::time_per_call(time / 2, [&] {
    change(1);
    base::value_or_throw(host.save<Counter>(ids[0]));
  });
  return {.workload = "O4",
          .about = "saves to SQLite, one caller",
          .rows = {{"save_all, 1,000 changed objects", batched * 1e3, "ms"},
                   {"of these, one object", batched * 1e6 / 1000, "µs"},
                   {"save, one changed object", single * 1e6, "µs"}},
          .targets = {}};
}

}  // namespace holdfast::bench_objects
