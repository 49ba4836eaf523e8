#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <holdfast/engines/open_store.h>

#include "bench/postgresql/bare_client.h"
#include "bench/postgresql/workloads.h"

namespace holdfast::bench_postgresql {

namespace {

constexpr std::uint64_t kThreads = 8;
constexpr std::uint64_t kNames = 1'000;  // of each thread
constexpr std::uint64_t kSamples = 10;

using Store = std::shared_ptr<store::LeaseStore>;

store::Claim claim_for(store::Permits permits) {
  return {.id = base::LeaseId::generate(),
          .owner = "bench",
          .reason = {},
          .ttl = std::chrono::seconds(30),
          .permits = permits};
}

void release(const Store& store, const std::string& name, const store::Claim& claim) {
  base::value_or_throw(store->release(name, claim.id));
}

// Acquires and releases; returns the number of operations.
std::uint64_t pair(const Store& store, const std::string& name, store::Permits permits) {
  const store::Claim claim = claim_for(permits);
  base::value_or_throw(store->claim(name, claim));
  release(store, name, claim);
  return 2;
}

// Lets a claim wait in the queue, and the release grant it the name.
std::uint64_t hand_over(const Store& store, const std::string& name) {
  const store::Claim first = claim_for({});
  store::Claim second = claim_for({});
  second.waits = true;
  base::value_or_throw(store->claim(name, first));
  base::value_or_throw(store->claim(name, second));
  release(store, name, first);
  release(store, name, second);
  return 4;
}

// Does a round of operations: of ten rounds seven use a mutex, two a semaphore, one a queue.
std::uint64_t round(const Store& store, std::uint64_t thread, std::uint64_t number) {
  const std::string name = fmt::format("{}/{}", thread, number % kNames);
  switch (number % 10) {
    case 0: return hand_over(store, "queue " + name);
    case 1:
    case 2: return pair(store, "permits " + name, store::Permits::of(1, 4));
    default: return pair(store, "mutex " + name, {});
  }
}

double megabytes(BareClient& client) {
  return std::stod(
      client.ask("SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) / 1e6 "
                 "FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
                 "WHERE n.nspname = 'bloat' AND c.relkind = 'r'"));
}

}  // namespace

Report bloat(const Context& context) {
  const Store store = base::value_or_throw(engines::open_store(context.url + "&schema=bloat"));
  BareClient client(context.url);
  Report report{.workload = "M5",
                .about = fmt::format("the size of all tables while {} threads do {} operations on "
                                     "{} names",
                                     kThreads, context.operations, kThreads * kNames),
                .rows = {},
                .targets = {}};
  std::vector<std::uint64_t> numbers(kThreads);
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t sample = 1; sample <= kSamples; ++sample) {
    std::atomic<std::uint64_t> done = context.operations * (sample - 1) / kSamples;
    const std::uint64_t end = context.operations * sample / kSamples;
    {
      std::vector<std::jthread> threads;
      for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
          while (done < end) done += round(store, thread, numbers[thread]++);
        });
      }
    }
    report.rows.push_back({fmt::format("after {} operations", end), megabytes(client), "MB"});
  }
  const Seconds wall = std::chrono::steady_clock::now() - begin;
  report.rows.push_back(
      {"holdfast", static_cast<double>(context.operations) / wall.count(), "operations/s"});
  const double half = report.rows[kSamples / 2 - 1].value;
  const double full = report.rows[kSamples - 1].value;
  report.targets = {
      {fmt::format("at most 1.5 times as large as after half of them ({:.2f})", full / half),
       full <= 1.5 * half}};
  return report;
}

}  // namespace holdfast::bench_postgresql
