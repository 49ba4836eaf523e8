#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <future>
#include <stdexcept>
#include <thread>

#include <tests/recipes/processes.h>
#include <tests/redis/redis_test.h>

#include <holdfast/locks/lock_provider.h>

// HOLDFAST_PYTHON: the interpreter that has redis-py. HOLDFAST_REDIS_PY_LOCK: redis_py_lock.py.
namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using store::Busy;
using store::Claim;
using store::Grant;

// The program of somebody else, running.
class RedisPy {
 public:
  explicit RedisPy(const std::string& arguments)
      : output_(
            ::popen((HOLDFAST_PYTHON " " HOLDFAST_REDIS_PY_LOCK " " + arguments).c_str(), "r")) {}
  ~RedisPy() { ::pclose(output_); }
  RedisPy(const RedisPy&) = delete;
  RedisPy& operator=(const RedisPy&) = delete;

  // Returns its next line; empty if it has ended.
  std::string line() {
    std::array<char, 100> text{};
    if (std::fgets(text.data(), text.size(), output_) == nullptr) {
      return "";
    }
    std::string said(text.data());
    return said.substr(0, said.find('\n'));
  }

 private:
  std::FILE* const output_;
};

class RedisPyInterop : public RedisTest {
 protected:
  std::string arguments(const std::string& what, const std::string& rest) {
    return what + " " + std::to_string(server_.port()) + " " + rest;
  }
};

TEST_F(RedisPyInterop, ItsLockExcludesUsAndShowsAsForeign) {
  RedisPy other(arguments("hold", "job stop"));
  ASSERT_EQ(other.line(), "held");
  const std::string value = run({"GET", "job"});
  const Busy busy = expect<Busy>(store_->claim("job", wish()));
  EXPECT_TRUE(busy.holders.at(0).foreign);
  EXPECT_EQ(busy.holders.at(0).owner, value);
  EXPECT_LE(busy.frees_in, 60s);
  EXPECT_EQ(release("job", busy.holders[0].id), store::ReleaseOutcome::not_held);
  EXPECT_EQ(run({"GET", "job"}), value);
  run({"SET", "stop", "now"});
  EXPECT_EQ(other.line(), "released");
  expect<Grant>(store_->claim("job", wish()));
}

TEST_F(RedisPyInterop, OurLockExcludesIt) {
  const Claim claim = wish();
  expect<Grant>(store_->claim("job", claim));
  EXPECT_EQ(RedisPy(arguments("try", "job")).line(), "busy");
  EXPECT_EQ(run({"GET", "job"}), to_string(claim.id));
  release("job", claim.id);
  EXPECT_EQ(RedisPy(arguments("try", "job")).line(), "got");
}

TEST_F(RedisPyInterop, AWaiterOfOursGetsTheNameWhenItsLockIsReleased) {
  locks::LockProvider provider(open_store(server_.port()));
  RedisPy other(arguments("hold", "job stop"));
  ASSERT_EQ(other.line(), "held");
  auto waiting = std::async(std::launch::async, [&] { return provider.acquire("job").token(); });
  ASSERT_TRUE(eventually([&] { return provider.waiting() == 1; }));
  run({"SET", "stop", "now"});
  EXPECT_EQ(other.line(), "released");
  EXPECT_GT(waiting.get().value(), 0U);
}

// Both add one to the number in a file, which nothing but the lock protects.
TEST_F(RedisPyInterop, NeverAreBothInside) {
  constexpr int kRounds = 60;
  constexpr int kThreads = 2;
  const std::string file = (server_.folder() / "count").string();
  std::ofstream(file) << 0;
  RedisPy one(arguments("count", "job " + file + " " + std::to_string(kRounds)));
  RedisPy two(arguments("count", "job " + file + " " + std::to_string(kRounds)));
  {
    locks::LockProvider provider(open_store(server_.port()), {.poll_least = 1ms, .poll_most = 5ms});
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < kRounds; ++round) {
          const auto lock = provider.acquire("job");
          int number = 0;
          std::ifstream(file) >> number;
          std::ofstream(file) << number + 1;
        }
      });
    }
    threads.clear();
  }
  EXPECT_EQ(one.line(), "counted");
  EXPECT_EQ(two.line(), "counted");
  int number = 0;
  std::ifstream(file) >> number;
  EXPECT_EQ(number, kRounds * (kThreads + 2));
}

// The state that three processes that compete without pause and one of redis-py share.
struct Contest {
  std::atomic<int> grants = 0;        // of Holdfast
  std::atomic<int> waits_since = 0;   // redis-py, in grants
  std::atomic<int> longest_wait = 0;  // of redis-py, in grants
  std::atomic<bool> is_over = false;
};

constexpr auto kYieldEvery = 3s;  // left free for 150 ms; redis-py polls every 100 ms
constexpr auto kHold = 10ms;
// Counted in grants, so a slow machine makes it no smaller. The first period should do; a process
// that does not get a processor in time misses one.
constexpr int kMostGrants = 6 * (kYieldEvery / kHold);

// Ends when redis-py has waited for too long, too: it gets in then, and the count tells.
void compete(std::uint16_t port, Contest& contest) {
  locks::LockProvider provider(open_store(port, kYieldEvery));
  while (!contest.is_over && contest.grants - contest.waits_since <= kMostGrants) {
    const auto lock = provider.acquire("job");
    ++contest.grants;
    std::this_thread::sleep_for(kHold);
  }
}

void take_turns_with_redis_py(std::uint16_t port, Contest& contest) {
  const auto expect_line = [other = std::make_unique<RedisPy>("turns " + std::to_string(port) +
                                                              " job 2")](std::string_view line) {
    if (other->line() != line) {
      throw std::runtime_error("redis-py has ended");
    }
  };
  for (int turn = 0; turn < 2; ++turn) {
    expect_line("waits");
    contest.waits_since = contest.grants.load();
    expect_line("held");
    contest.longest_wait =
        std::max<int>(contest.longest_wait, contest.grants - contest.waits_since);
  }
}

TEST(RedisPyBesideThreeProcesses, GetsInWithinABoundedNumberOfTheirGrants) {
  const RedisServer server;
  const Shared<Contest> contest;
  EXPECT_EQ(failures_among(4,
                           [&](int process) {
                             if (process < 3) {
                               compete(server.port(), *contest);
                               return;
                             }
                             if (!eventually([&] { return contest->grants > 20; })) {
                               throw std::runtime_error("nobody competes");
                             }
                             take_turns_with_redis_py(server.port(), *contest);
                             contest->is_over = true;
                           }),
            0);
  EXPECT_GT(contest->grants, 20);
  EXPECT_LE(contest->longest_wait, kMostGrants);
}

}  // namespace
}  // namespace holdfast::tests
