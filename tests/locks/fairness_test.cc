// Measures how long a waiter waits while its own and another process are busy with the name,
// counted in holds and not in time (the processes share a counter), and what it costs to wake it.
//
// The counts do not depend on when a thread gets a processor: a holder that is not scheduled adds
// no hold. One begins when the store has put a claim into its queue. One has the holds of the
// waiter's own process, from joining the local queue. The third has the holds of both from there: a
// claim that is refused is in the store's queue in the same step, and so is the next waiter of a
// process before the process lets the store choose.
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

// A process hands the name over to waiters of its own 16 times before the store chooses.
constexpr std::uint64_t kMostHolds = 40;

// The memory that the processes share.
struct Counts {
  std::atomic<std::uint64_t> holds = 0;
  std::atomic<std::uint64_t> longest_in_store = 0;  // in holds of both
  std::atomic<std::uint64_t> longest_in_line = 0;   // in holds of the waiter's process
  std::atomic<std::uint64_t> longest = 0;           // from there, in holds of both
  std::atomic<int> ready = 0;
};

void raise_to(std::atomic<std::uint64_t>& longest, std::uint64_t value) {
  for (std::uint64_t seen = longest; seen < value && !longest.compare_exchange_weak(seen, value);) {
  }
}

// When the acquire of this thread began to wait.
thread_local std::optional<std::uint64_t> waits_in_store_since;  // in holds of both
thread_local std::optional<std::uint64_t> waits_in_line_since;   // in holds of this process
thread_local std::uint64_t waits_since;                          // the same time, in holds of both

// A store that notes when a waiting claim was refused. The caller then gets no processor for
// `stall`.
class NotingStore final : public store::LeaseStore {
 public:
  NotingStore(std::shared_ptr<store::LeaseStore> real, const Counts& counts, milliseconds stall)
      : real_(std::move(real)), counts_(counts), stall_(stall) {}

  [[nodiscard]] store::Capabilities capabilities() const override { return real_->capabilities(); }

 private:
  Result<store::ClaimOutcome> do_claim(const Name& name, const store::Claim& claim,
                                       Deadline deadline) override {
    auto outcome = real_->claim(name.view(), claim, deadline);
    if (outcome && std::holds_alternative<store::Busy>(*outcome) && claim.waits &&
        !waits_in_store_since) {
      waits_in_store_since = counts_.holds.load();
      std::this_thread::sleep_for(stall_);
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
  const milliseconds stall_;
};

struct Crowd {
  std::vector<int> threads;  // of each process
  milliseconds hold;
  milliseconds stall{};  // of the second process, whenever a claim of a waiter is refused
};

// The sum of both: enough for a waiter that starves to wait for more than it may.
constexpr std::uint64_t kHolds = kMostHolds + 10;

// One process.
class Competitor {
 public:
  Competitor(const std::string& url, Counts& counts, milliseconds stall)
      : counts_(counts), provider_(open(url, stall), options()) {}

  // One thread of it: acquires the name again and again.
  void work(milliseconds hold) {
    while (counts_.holds < kHolds) {
      waits_in_store_since.reset();
      waits_in_line_since.reset();
      const locks::Lock lock = provider_.acquire("job", {.wait = kPatience});
      const std::uint64_t before = counts_.holds++;
      const std::uint64_t before_here = holds_here_++;
      if (waits_in_store_since) {
        raise_to(counts_.longest_in_store, before - *waits_in_store_since);
      }
      if (waits_in_line_since) {
        raise_to(counts_.longest_in_line, before_here - *waits_in_line_since);
        raise_to(counts_.longest, before - waits_since);
      }
      std::this_thread::sleep_for(hold);
    }
  }

 private:
  [[nodiscard]] std::shared_ptr<store::LeaseStore> open(const std::string& url,
                                                        milliseconds stall) const {
    return std::make_shared<NotingStore>(base::value_or_throw(engines::open_store(url)), counts_,
                                         stall);
  }
  [[nodiscard]] locks::ProviderOptions options() const {
    locks::ProviderOptions options;
    options.metrics.count = [this](std::string_view counter, std::string_view, std::uint64_t) {
      if (counter == "contended") {
        waits_in_line_since = holds_here_.load();
        waits_since = counts_.holds.load();
      }
    };
    return options;
  }

  Counts& counts_;
  std::atomic<std::uint64_t> holds_here_ = 0;
  locks::LockProvider provider_;
};

void compete(const std::string& url, Counts& counts, const Crowd& crowd, int process) {
  Competitor competitor(url, counts, process == 1 ? crowd.stall : milliseconds(0));
  ++counts.ready;
  if (!eventually([&] { return counts.ready == static_cast<int>(crowd.threads.size()); })) {
    throw std::runtime_error("the other processes did not start");
  }
  std::vector<std::jthread> threads;
  for (int i = 0; i < crowd.threads[static_cast<std::size_t>(process)]; ++i) {
    threads.emplace_back([&] { competitor.work(crowd.hold); });
  }
}

void expect_fair(const std::string& url, const Crowd& crowd) {
  const Shared<Counts> counts;
  EXPECT_EQ(failures_among(static_cast<int>(crowd.threads.size()),
                           [&](int process) { compete(url, *counts, crowd, process); }),
            0);
  EXPECT_LE(counts->longest_in_store, kMostHolds);
  EXPECT_LE(counts->longest, kMostHolds);
  // The local queue is served in order.
  EXPECT_LE(counts->longest_in_line, static_cast<std::uint64_t>(crowd.threads.at(0)));
}

// The time of a hold, in milliseconds.
class FairnessBetweenProcesses : public ::testing::TestWithParam<int> {
 protected:
  static void expect_fair_on(const std::string& url) {
    for (const std::vector<int>& threads : {std::vector{1, 1}, {2, 1}, {8, 1}, {8, 8}}) {
      SCOPED_TRACE(::testing::PrintToString(threads) + " threads");
      expect_fair(url, {.threads = threads, .hold = milliseconds(GetParam())});
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Holds, FairnessBetweenProcesses, ::testing::Values(0, 5, 20, 50),
                         [](const auto& hold) { return std::to_string(hold.param) + "ms"; });

TEST_P(FairnessBetweenProcesses, NoWaiterWaitsLongerThanFortyHoldsOnSqlite) {
  const SqliteFile file;
  expect_fair_on(file.url());
}

TEST_P(FairnessBetweenProcesses, NoWaiterWaitsLongerThanFortyHoldsOnRedis) {
  const RedisServer server;
  expect_fair_on(server.url());
}

// Others could hold the name 50 times while the waiter has no processor.
Crowd stalled() {
  return {.threads = {8, 1}, .hold = milliseconds(10), .stall = milliseconds(500)};
}

TEST(FairnessWithoutAProcessor, AWaiterKeepsItsTurnOnSqlite) {
  const SqliteFile file;
  expect_fair(file.url(), stalled());
}

TEST(FairnessWithoutAProcessor, AWaiterKeepsItsTurnOnRedis) {
  const RedisServer server;
  expect_fair(server.url(), stalled());
}

TEST(WakeUps, AGrantWakesOneProcessHoweverManyWaitOnSqlite) {
  constexpr int kProcesses = 8;
  constexpr int kRounds = 100;
  const TemporaryFolder folder;
  const engines::sqlite::SqliteOptions options{.file = folder / "locks.db"};
  const Shared<std::atomic<std::uint64_t>> woken;
  const auto take_turns = [&](int) {
    const auto store = base::value_or_throw(engines::sqlite::open_store(options));
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
