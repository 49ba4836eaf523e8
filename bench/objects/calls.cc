#include <memory>
#include <string>
#include <vector>

#include <holdfast/engines/memory/memory_repository.h>
#include <holdfast/local/key_lock.h>
#include <holdfast/objects/object_host.h>

#include "bench/objects/counter.h"
#include "bench/objects/workloads.h"

namespace holdfast::bench_objects {

namespace {

using objects::Calls;
using objects::HostOptions;
using objects::ObjectHost;

constexpr std::size_t kIds = 512;  // of each thread

std::unique_ptr<ObjectHost> make_host(Calls calls) {
  HostOptions options;
  options.save_every.reset();
  auto host =
      std::make_unique<ObjectHost>(std::make_shared<engines::memory::MemoryRepository>(), options);
  host->register_type<Counter>("counter", {.calls = calls})
      .method<&Counter::add>("add")
      .method<&Counter::value>("value");
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    for (const std::string& id : ids_of(thread, kIds)) {
      base::value_or_throw(host->create<Counter>(id));
    }
  }
  return host;
}

// Runs `step(id)` on the ids of each thread, one after the other.
template <class Step>
Contender over_ids(Step step) {
  return [step](Seconds time) {
    return bench::run_timed(kThreads, time, [&step](std::size_t thread) {
      return [&step, ids = ids_of(thread, kIds)](std::uint64_t i) { step(ids[i % kIds]); };
    });
  };
}

double nanoseconds_per_call(double per_second) {
  return 1e9 * static_cast<double>(kThreads) / per_second;
}

}  // namespace

Report typed_calls(Seconds time) {
  const auto host = make_host(Calls::concurrent);
  local::KeyLock keys;
  const auto rates = take_turns(time, {over_ids([&](const std::string& id) {
                                         base::value_or_throw(host->call<&Counter::add>(id, 1));
                                       }),
                                       over_ids([&](const std::string& id) {
                                         base::value_or_throw(host->call<&Counter::value>(id));
                                       }),
                                       over_ids([&](const std::string& id) {
                                         const auto guard = keys.lock_shared(id);
                                         bench::critical_section();
                                       })});
  const double call = nanoseconds_per_call(rates[0]);
  const double pair = nanoseconds_per_call(rates[2]);
  return {.workload = "O1",
          .about = "typed calls of active objects, 2 threads, distinct ids",
          .rows = {{"call that changes", rates[0] / 1e6, "M/s"},
                   {"call that reads (const)", rates[1] / 1e6, "M/s"},
                   {"bare KeyLock pair (shared)", rates[2] / 1e6, "M/s"},
                   {"one call, in its thread", call, "ns"},
                   {"one bare pair, in its thread", pair, "ns"},
                   {"a call costs over the pair", call - pair, "ns"}},
          .targets = {{"at least 5 M/s", rates[0] >= 5e6}}};
}

Report other_calls(Seconds time) {
  const auto host = make_host(Calls::concurrent);
  const auto serial = make_host(Calls::serial);
  const nlohmann::json one = 1;
  const auto rates =
      take_turns(time, {over_ids([&](const std::string& id) {
                          base::value_or_throw(serial->call<&Counter::add>(id, 1));
                        }),
                        over_ids([&](const std::string& id) {
                          base::value_or_throw(host->call("counter", id, "add", one));
                        }),
                        over_ids([&](const std::string&) {
                          base::value_or_throw(host->call<&Counter::value>("t0:0"));
                        })});
  return {.workload = "O3",
          .about = "other calls, 2 threads",
          .rows = {{"typed, serial type", rates[0] / 1e6, "M/s"},
                   {"by name, with JSON", rates[1] / 1e6, "M/s"},
                   {"typed, both read one object", rates[2] / 1e6, "M/s"}},
          .targets = {}};
}

}  // namespace holdfast::bench_objects
