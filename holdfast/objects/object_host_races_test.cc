// Many threads, few ids, all operations at the same time; at the end nothing is left behind.
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>

#include <holdfast/objects/object_host.h>
#include <holdfast/objects/testing_support.h>

namespace holdfast::objects {
namespace {

using base::value_or_throw;
using testing::answer;
using testing::HostTest;
using testing::Scripted;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kRounds = 3'000;
#else
constexpr int kRounds = 30'000;
#endif

// An object that detects operations that must not overlap. It has no lock of its own where the host
// promises exclusion.
class Sentinel : public Object {
 public:
  static inline std::atomic<int> alive = 0;
  static inline std::atomic<int> met = 0;

  Sentinel() { ++alive; }
  ~Sentinel() override {
    expect_alone();
    --alive;
  }
  [[nodiscard]] nlohmann::json to_data() const override {
    const Visit visit(*this);
    return value_.load();
  }
  void from_data(const nlohmann::json& data) override {
    expect_alone();
    data_ = "loaded";
    value_ = data.get<long>();
  }
  void on_created() override {
    expect_alone();
    data_ = "created";
  }
  void on_deleting() override {
    expect_alone();
    data_.clear();
  }
  long call() {
    const Visit visit(*this);
    if (data_.empty()) ++met;  // before the creation, or after the delete
    return ++value_;
  }

 private:
  struct Visit {
    explicit Visit(const Sentinel& of) : sentinel(of) { ++sentinel.inside_; }
    ~Visit() { --sentinel.inside_; }
    const Sentinel& sentinel;
  };
  void expect_alone() const {
    if (inside_ != 0) ++met;
  }

  std::string data_;  // written in hooks, read in calls: a race if they overlap
  std::atomic<long> value_ = 0;
  mutable std::atomic<int> inside_ = 0;
};

void storm(HostOptions options, const std::vector<int>& weights) {
  Sentinel::met = 0;
  const auto repository = std::make_shared<testing::WatchedRepository>();
  {
    ObjectHost host(repository, std::move(options));
    host.register_type<Sentinel>("sentinel");
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        std::discrete_distribution<int> choose(weights.begin(), weights.end());
        for (int round = 0; round < kRounds; ++round) {
          const std::string id(1, static_cast<char>('a' + random() % 3));
          switch (choose(random)) {
            case 0: EXPECT_EQ(answer(host.create<Sentinel>(id)), "done"); break;
            case 1: EXPECT_EQ(answer(host.call<&Sentinel::call>(id)), "done"); break;
            case 2: EXPECT_EQ(answer(host.save<Sentinel>(id)), "done"); break;
            case 3: EXPECT_EQ(answer(host.erase<Sentinel>(id)), "done"); break;
            case 4: EXPECT_EQ(answer(host.deactivate<Sentinel>(id)), "done"); break;
            default: EXPECT_EQ(answer(host.save_all()), "done"); break;
          }
        }
      });
    }
    threads.clear();
    EXPECT_LE(host.count(), 3U);
    for (const char* id : {"a", "b", "c"}) value_or_throw(host.erase<Sentinel>(id));
    const HostStats stats = host.stats();
    EXPECT_EQ(stats.active, 0U);
    EXPECT_EQ(stats.keys_in_use, 0U);
    EXPECT_EQ(host.count(), 0U);
  }
  EXPECT_EQ(Sentinel::met, 0);
  EXPECT_EQ(Sentinel::alive, 0);
  EXPECT_EQ(repository->size(), 0U);
}

TEST(ObjectHostRaces, CreateAndDelete) { storm(HostTest::quiet(), {1, 0, 0, 1}); }
TEST(ObjectHostRaces, CallAndDelete) { storm(HostTest::quiet(), {0, 6, 0, 1}); }
TEST(ObjectHostRaces, SaveAndDelete) { storm(HostTest::quiet(), {0, 2, 4, 1}); }
TEST(ObjectHostRaces, SaveAllAndDelete) { storm(HostTest::quiet(), {0, 2, 0, 1, 0, 1}); }
TEST(ObjectHostRaces, EverythingAtOnce) {
  storm({.save_every = std::chrono::milliseconds(1), .idle_after = std::chrono::milliseconds(1)},
        {1, 10, 2, 2, 2, 1});
}

TEST(ObjectHostRaces, AStopAmongThem) {
  Sentinel::met = 0;
  for (int round = 0; round < 30; ++round) {
    const auto repository = std::make_shared<testing::WatchedRepository>();
    std::atomic<long> done = 0;
    {
      ObjectHost host(repository, {.save_every = std::chrono::milliseconds(1)});
      host.register_type<Sentinel>("sentinel");
      std::vector<std::jthread> threads;
      for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
          while (host.call<&Sentinel::call>("a")) ++done;
        });
      }
      EXPECT_TRUE(testing::eventually([&] { return done > 10; }));
      EXPECT_TRUE(host.stop());
      EXPECT_EQ(Sentinel::alive, 0);
    }
    EXPECT_EQ(repository->stored("sentinel", "a"), std::to_string(done));
  }
  EXPECT_EQ(Sentinel::met, 0);
}

// A million objects are created and deleted; afterwards the host and the heap are as before.
TEST(ObjectHostRaces, CreateAndDeleteAMillionTimesLeavesNothingBehind) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int kCycles = 50'000;
#else
  constexpr int kCycles = 1'000'000;
#endif
  const auto repository = std::make_shared<testing::WatchedRepository>();
  ObjectHost host(repository);
  host.register_type<Sentinel>("sentinel");
  const auto run = [&](int cycles) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        for (int i = t; i < cycles; i += 2) {
          const std::string id = "object " + std::to_string(i);
          ASSERT_EQ(host.create<Sentinel>(id), CreateStatus::created);
          ASSERT_EQ(host.erase<Sentinel>(id), EraseStatus::erased);
        }
      });
    }
  };
  run(kCycles / 2);  // memory kept for reuse is allocated now
  const std::size_t before = ::mallinfo2().uordblks;
  run(kCycles);
  const std::size_t after = ::mallinfo2().uordblks;
  EXPECT_EQ(host.stats().active, 0U);
  EXPECT_EQ(host.count(), 0U);
  EXPECT_EQ(host.stats().keys_in_use, 0U);
  EXPECT_EQ(Sentinel::alive, 0);
  EXPECT_EQ(repository->size(), 0U);
  // Thirteen bytes per object would exceed this. The three locks of the type may still have grown
  // by 4 MiB each, once.
  constexpr std::size_t kGrowthOfLocks = 3 * (std::size_t{4} << 20U);
  EXPECT_LT(after, before + kGrowthOfLocks + kCycles / 2);
}

}  // namespace
}  // namespace holdfast::objects
