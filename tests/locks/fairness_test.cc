// How long a waiter of one process waits while another process is busy with the name, counted in
// holds and not in time (the processes share a counter), and what it costs to wake it.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <tests/recipes/processes.h>
#include <tests/support/redis_server.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using base::Deadline;
using base::LeaseId;
using base::Name;
using base::Result;
using std::chrono::milliseconds;

// A line hands the name over 16 times before the store chooses.
constexpr std::uint64_t kMostHolds = 40;

// What the processes share.
struct Counts {
  std::atomic<std::uint64_t> holds = 0;
  std::atomic<std::uint64_t> longest_in_store = 0;  // from the refusal of the claim that waits
  std::atomic<std::uint64_t> longest_in_line = 0;   // from the beginning of the wait
  std::atomic<int> ready = 0;
};

void raise_to(std::atomic<std::uint64_t>& longest, std::uint64_t value) {
  for (std::uint64_t seen = longest; seen < value && !longest.compare_exchange_weak(seen, value);) {
  }
}

// When the acquire of this thread began to wait, in holds.
thread_local std::optional<std::uint64_t> waits_in_store_since;
thread_local std::optional<std::uint64_t> waits_in_line_since;

// A store that notes when a waiting claim was refused.
class NotingStore final : public store::LeaseStore {
 public:
  NotingStore(std::shared_ptr<store::LeaseStore> real, const Counts& counts)
      : real_(std::move(real)), counts_(counts) {}

  [[nodiscard]] store::Capabilities capabilities() const override { return real_->capabilities(); }

 private:
  Result<store::ClaimOutcome> do_claim(const Name& name, const store::Claim& claim,
                                       Deadline deadline) override {
    auto outcome = real_->claim(name.view(), claim, deadline);
    if (outcome && std::holds_alternative<store::Busy>(*outcome) && claim.waits &&
        !waits_in_store_since) {
      waits_in_store_since = counts_.holds.load();
    }
    return outcome;
  }
  Result<std::vector<store::RenewOutcome>> do_renew(std::span<const store::Renewal> renewals,
                                                    Deadline deadline) override {
    return real_->renew(renewals, deadline);
  }
  Result<store::TransferOutcome> do_transfer(const Name& name, const LeaseId& from,
                                             const store::Claim& to, Deadline deadline) override {
    return real_->transfer(name.view(), from, to, deadline);
  }
  Result<store::ReleaseOutcome> do_release(const Name& name, const LeaseId& id,
                                           Deadline deadline) override {
    return real_->release(name.view(), id, deadline);
  }
  Result<std::optional<store::NameState>> do_look(const Name& name, Deadline deadline) override {
    return real_->look(name.view(), deadline);
  }
  Result<store::Page> do_list(std::string_view prefix, const store::PageRequest& page,
                              Deadline deadline) override {
    return real_->list(prefix, page, deadline);
  }
  Result<store::HitOutcome> do_hit(const Name& name, const store::Hit& hit,
                                   Deadline deadline) override {
    return real_->hit(name.view(), hit, deadline);
  }
  Result<store::Watch> do_watch(const Name& name, store::WatchCallback callback) override {
    return real_->watch(name.view(), std::move(callback));
  }

  const std::shared_ptr<store::LeaseStore> real_;
  const Counts& counts_;
};

struct Crowd {
  std::vector<int> threads;  // of each process
  milliseconds hold;
  std::uint64_t holds;  // of all together
};

// One thread of a process: acquires the name again and again.
void work(locks::LockProvider& provider, Counts& counts, const Crowd& crowd) {
  while (counts.holds < crowd.holds) {
    waits_in_store_since.reset();
    waits_in_line_since.reset();
    const locks::Lock lock = provider.acquire("job", {.wait = kPatience});
    const std::uint64_t before = counts.holds++;
    if (waits_in_store_since) {
      raise_to(counts.longest_in_store, before - *waits_in_store_since);
    }
    if (waits_in_line_since) {
      raise_to(counts.longest_in_line, before - *waits_in_line_since);
    }
    std::this_thread::sleep_for(crowd.hold);
  }
}

void work_in_threads(const std::string& url, Counts& counts, const Crowd& crowd, int process) {
  locks::ProviderOptions options;
  options.metrics.count = [&](std::string_view counter, std::uint64_t) {
    if (counter == "contended") {
      waits_in_line_since = counts.holds.load();
    }
  };
  auto real = base::value_or_throw(engines::open_store(url));
  locks::LockProvider provider(std::make_shared<NotingStore>(std::move(real), counts), options);
  ++counts.ready;
  if (!eventually([&] { return counts.ready == static_cast<int>(crowd.threads.size()); })) {
    throw std::runtime_error("the other processes did not start");
  }
  std::vector<std::jthread> threads;
  for (int i = 0; i < crowd.threads[static_cast<std::size_t>(process)]; ++i) {
    threads.emplace_back([&] { work(provider, counts, crowd); });
  }
}

// Where a hold is short, a thread that is not scheduled in time misses many: only what the store
// sees counts then.
enum class Strictly : std::uint8_t { in_store, in_line };

void expect_fair(const std::string& url, const Crowd& crowd, Strictly strictly) {
  const Shared<Counts> counts;
  EXPECT_EQ(failures_among(static_cast<int>(crowd.threads.size()),
                           [&](int process) { work_in_threads(url, *counts, crowd, process); }),
            0);
  EXPECT_LE(counts->longest_in_store, kMostHolds);
  if (strictly == Strictly::in_line) {
    EXPECT_LE(counts->longest_in_line, kMostHolds);
  }
}

void expect_fair_with_a_busy_neighbour(const std::string& url) {
  expect_fair(url, {.threads = {8, 1}, .hold = milliseconds(20), .holds = 80}, Strictly::in_line);
}
void expect_fair_with_long_holds(const std::string& url) {
  expect_fair(url, {.threads = {2, 1}, .hold = milliseconds(50), .holds = 50}, Strictly::in_line);
}
void expect_fair_with_short_holds(const std::string& url) {
  for (const int hold : {0, 5}) {
    expect_fair(url, {.threads = {8, 8}, .hold = milliseconds(hold), .holds = 200},
                Strictly::in_store);
    expect_fair(url, {.threads = {1, 1}, .hold = milliseconds(hold), .holds = 100},
                Strictly::in_store);
  }
}

TEST(FairnessBetweenProcesses, OneThreadHasItsTurnBesideEightOnSqlite) {
  const SqliteFile file;
  expect_fair_with_a_busy_neighbour(file.url());
}
TEST(FairnessBetweenProcesses, LongHoldsArePassedOnOnSqlite) {
  const SqliteFile file;
  expect_fair_with_long_holds(file.url());
}
TEST(FairnessBetweenProcesses, ShortHoldsArePassedOnOnSqlite) {
  const SqliteFile file;
  expect_fair_with_short_holds(file.url());
}

TEST(FairnessBetweenProcesses, OneThreadHasItsTurnBesideEightOnRedis) {
  const RedisServer server;
  expect_fair_with_a_busy_neighbour(server.url());
}
TEST(FairnessBetweenProcesses, LongHoldsArePassedOnOnRedis) {
  const RedisServer server;
  expect_fair_with_long_holds(server.url());
}
TEST(FairnessBetweenProcesses, ShortHoldsArePassedOnOnRedis) {
  const RedisServer server;
  expect_fair_with_short_holds(server.url());
}

TEST(WakeUps, AGrantWakesOneProcessHoweverManyWaitOnSqlite) {
  constexpr int kProcesses = 8;
  constexpr int kRounds = 100;
  const TemporaryFolder folder;
  const engines::sqlite::SqliteOptions options{.file = folder / "locks.db"};
  const Shared<std::atomic<std::uint64_t>> woken;
  const auto take_turns = [&](int) {
    const auto store = base::value_or_throw(engines::sqlite::SqliteStore::open(options));
    locks::LockProvider provider(store);
    for (int i = 0; i < kRounds; ++i) {
      const locks::Lock lock = provider.acquire("job", {.wait = kPatience});
      std::this_thread::sleep_for(milliseconds(1));  // the others wait by then
    }
    *woken += store->times_woken();
  };
  EXPECT_EQ(failures_among(kProcesses, take_turns), 0);
  EXPECT_LE(*woken, kProcesses * kRounds + kProcesses * 10);
}

}  // namespace
}  // namespace holdfast::tests
