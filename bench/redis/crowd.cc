#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/local/measure.h"
#include "bench/locks/child.h"
#include "bench/redis/bare_client.h"
#include "bench/redis/workloads.h"

namespace holdfast::bench_redis {

namespace {

constexpr const char* kName = "crowd";
constexpr std::size_t kWaiters = 32;

// Fencing tokens order the grants of all processes.
struct Grant {
  std::uint64_t token;
  std::size_t waiter;
};
using Grants = std::vector<Grant>;

Grants contend(const std::string& url, std::size_t waiters, std::size_t first, Seconds time) {
  locks::LockProvider provider(base::value_or_throw(engines::open_store(url)));
  std::mutex mutex;
  Grants all;
  bench::run_threads(waiters, time, [&](std::size_t thread, const std::atomic<bool>& stop) {
    Grants mine;
    while (!stop.load(std::memory_order_relaxed)) {
      auto lock = provider.acquire(kName);
      mine.push_back({.token = lock.token().value(), .waiter = first + thread});
      base::value_or_throw(lock.release());
    }
    const std::lock_guard guard(mutex);
    all.insert(all.end(), mine.begin(), mine.end());
    return mine.size();
  });
  return all;
}

double bare_pairs_per_second(const Context& context) {
  BareClient client(context.server.port());
  return 1 / bench_locks::time_per_call(context.settings.seconds / 4, [&] {
           client.lock("bare");
           client.unlock("bare");
         });
}

std::size_t count_switches(Grants& grants) {
  std::ranges::sort(grants, {}, &Grant::token);
  std::size_t switches = 0;
  for (std::size_t i = 1; i < grants.size(); ++i) {
    switches += grants[i].waiter != grants[i - 1].waiter ? 1U : 0U;
  }
  return switches;
}

double unfairness(const Grants& grants) {
  std::vector<double> counts(kWaiters);
  for (const Grant& grant : grants) {
    ++counts[grant.waiter];
  }
  return std::ranges::max(counts) / std::max(std::ranges::min(counts), 1.0);
}

Grants contend_with_another_process(const Context& context) {
  const tests::TemporaryFolder folder;
  const std::string file = (folder / "grants").string();
  bench_locks::Child other(role(
      {"crowd", context.server.url(), file, std::to_string(context.settings.seconds.count())}));
  static_cast<void>(other.hear());
  other.say("go");
  Grants grants = contend(context.server.url(), kWaiters / 2, 0, context.settings.seconds);
  static_cast<void>(other.hear());
  std::ifstream in(file);
  for (Grant grant{}; in >> grant.token >> grant.waiter;) {
    grants.push_back(grant);
  }
  return grants;
}

struct Bounds {
  double share;  // of the bare pairs of one caller
  const char* about;
};

template <class Contend>
Report measure(const Context& context, const Bounds& bounds, const Contend& contend_there) {
  const double bare = bare_pairs_per_second(context);
  BareClient observer(context.server.port());
  const double before = observer.script_statistics().calls;
  const double begin = static_cast<double>(now_ns());
  Grants grants = contend_there();
  const double seconds = (static_cast<double>(now_ns()) - begin) * 1e-9;
  const double commands = (observer.script_statistics().calls - before) /
                          static_cast<double>(std::max<std::size_t>(grants.size(), 1));
  const double switches = static_cast<double>(count_switches(grants)) / seconds;
  const double unfair = unfairness(grants);
  return {.workload = "M3",
          .about = bounds.about,
          .rows = {{"holdfast", static_cast<double>(grants.size()) / seconds, "grants/s"},
                   {"holdfast", switches, "switches/s"},
                   {"holdfast", commands, "commands/grant"},
                   {"holdfast, most / least", unfair, "grants"},
                   {"hiredis, one caller alone", bare, "pairs/s"}},
          .targets = {{fmt::format("at least {} switches per pair of one caller ({:.2f})",
                                   bounds.share, switches / bare),
                       switches >= bounds.share * bare},
                      {"at most 2.5 commands per grant", commands <= 2.5},
                      {"most / least at most 1.3", unfair <= 1.3}}};
}

}  // namespace

int join_crowd(const std::string& url, const std::string& file, const std::string& seconds) {
  std::cout << "ready" << '\n' << std::flush;
  std::string go;
  std::getline(std::cin, go);
  const Grants grants = contend(url, kWaiters / 2, kWaiters / 2, Seconds(std::stod(seconds)));
  std::ofstream out(file);
  for (const Grant& grant : grants) {
    out << grant.token << ' ' << grant.waiter << '\n';
  }
  out.close();
  std::cout << "done" << '\n' << std::flush;
  return 0;
}

Report crowd_in_one_process(const Context& context) {
  return measure(context, {.share = 0.6, .about = "32 waiters for one name, one process"}, [&] {
    return contend(context.server.url(), kWaiters, 0, context.settings.seconds);
  });
}

Report crowd_in_two_processes(const Context& context) {
  return measure(context, {.share = 0.35, .about = "32 waiters for one name, two processes"},
                 [&] { return contend_with_another_process(context); });
}

}  // namespace holdfast::bench_redis
