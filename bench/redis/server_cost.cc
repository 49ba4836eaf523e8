#include <future>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/store/async_lease_store.h>
#include <holdfast/store/lease_store.h>

#include "bench/redis/bare_client.h"
#include "bench/redis/workloads.h"

namespace holdfast::bench_redis {

namespace {

constexpr std::size_t kPipelined = 256;

struct Named {
  std::string name;
  store::Claim claim;
};

// Sends one request for each name without waiting in between, and returns when all are answered.
template <class Outcome, class Send>
void pipeline(const std::vector<Named>& all, const Send& send) {
  std::vector<std::promise<base::Result<Outcome>>> answers(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    send(all[i], [&answers, i](base::Result<Outcome> outcome) {
      answers[i].set_value(std::move(outcome));
    });
  }
  for (auto& answer : answers) {
    base::value_or_throw(answer.get_future().get());
  }
}

// Returns how long the server runs each script of this work, by its own figures.
template <class Work>
double microseconds_per_call(BareClient& observer, const Work& work) {
  const ScriptStatistics before = observer.script_statistics();
  work();
  const ScriptStatistics after = observer.script_statistics();
  return (after.microseconds - before.microseconds) / (after.calls - before.calls);
}

}  // namespace

Report server_cost(const Context& context) {
  const auto store = base::value_or_throw(engines::open_store(context.server.url()));
  store::AsyncLeaseStore& async = *store->async();
  BareClient observer(context.server.port());
  std::vector<Named> all;
  for (std::size_t i = 0; i < kPipelined; ++i) {
    all.push_back({.name = fmt::format("cost:{}", i),
                   .claim = {.id = base::LeaseId::generate(),
                             .owner = "bench",
                             .reason = "",
                             .ttl = std::chrono::seconds(30)}});
  }
  const auto claim = [&] {
    pipeline<store::ClaimOutcome>(all, [&](const Named& each, auto callback) {
      async.claim(each.name, each.claim, base::Deadline::never(), std::move(callback));
    });
  };
  const auto release = [&] {
    pipeline<store::ReleaseOutcome>(all, [&](const Named& each, auto callback) {
      async.release(each.name, each.claim.id, base::Deadline::never(), std::move(callback));
    });
  };
  claim();  // the server compiles the scripts
  release();
  std::vector<double> claims;
  std::vector<double> releases;
  const auto end = std::chrono::steady_clock::now() + context.settings.seconds;
  do {
    claims.push_back(microseconds_per_call(observer, claim));
    releases.push_back(microseconds_per_call(observer, release));
  } while (std::chrono::steady_clock::now() < end);
  const double of_claim = bench_locks::median(claims);
  const double of_release = bench_locks::median(releases);
  return {.workload = "M5",
          .about = fmt::format("what a free mutex costs the server, {} at once", kPipelined),
          .rows = {{"claim", of_claim, "µs/call"}, {"release", of_release, "µs/call"}},
          .targets = {{"at most 5 µs per claim", of_claim <= 5},
                      {"at most 4 µs per release", of_release <= 4}}};
}

}  // namespace holdfast::bench_redis
