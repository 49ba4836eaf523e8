// Callers who ask at the same time: their claims, and their releases, go to the server as one
// script.

#include <future>
#include <string>
#include <thread>
#include <vector>

#include <tests/redis/redis_test.h>

namespace holdfast::tests {
namespace {

using store::Claim;
using store::Grant;
using store::ReleaseOutcome;

class Joined : public RedisTest {
 protected:
  // Again and again, as long as this is there.
  std::jthread forget_scripts() {
    return std::jthread([this](const std::stop_token& stop) {
      RedisClient client(server_.port());
      while (!stop.stop_requested()) {
        client.run({"SCRIPT", "FLUSH"});
      }
    });
  }

  // Connects as a user that may use the jobs, and of their queues those with this pattern.
  void open_with_queues(const std::string& pattern) {
    run({"ACL", "SETUSER", "limited", "on", ">word", "+@all", "allchannels", "~job*", "~hf:{job*",
         pattern});
    store_ = base::value_or_throw(engines::redis::open_store(
        {.host = "127.0.0.1", .port = server_.port(), .user = "limited", .password = "word"}));
  }

  static constexpr int kCallers = 16;
  static constexpr int kTurns = 200;

  // All at once, each with a name of its own, claim and release it so often.
  void claim_and_release() {
    std::vector<std::future<void>> callers;
    for (int caller = 0; caller < kCallers; ++caller) {
      callers.push_back(std::async(std::launch::async, [this, caller] {
        const std::string name = "job " + std::to_string(caller);
        base::FencingToken last(0);
        for (int i = 0; i < kTurns; ++i) {
          const Claim claim = wish();
          const auto grant = expect<Grant>(store_->claim(name, claim));
          EXPECT_GT(grant.token, last);
          EXPECT_EQ(store_->release(name, claim.id), ReleaseOutcome::released);
          last = grant.token;
        }
      }));
    }
    for (std::future<void>& caller : callers) {
      caller.get();
    }
  }
};

TEST_F(Joined, AreFewerCommandsThanCalls) {
  // The scheduler decides which callers come together.
  EXPECT_TRUE(eventually([&] {
    const int before = calls("evalsha");
    claim_and_release();
    return calls("evalsha") - before < 2 * kCallers * kTurns;
  }));
}

TEST_F(Joined, AreServedThoughTheServerForgetsTheScripts) {
  const auto forgetful = forget_scripts();
  claim_and_release();
}

// A request that is not as usual is sent again, also by the client that sends the script.
TEST_F(Joined, AreServedThoughTheyWantTheSameName) {
  const auto forgetful = forget_scripts();
  std::vector<std::future<int>> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.push_back(std::async(std::launch::async, [this] {
      int granted = 0;
      for (int i = 0; i < kTurns; ++i) {
        const Claim claim = wish();
        if (std::holds_alternative<Grant>(base::value_or_throw(store_->claim("job", claim)))) {
          EXPECT_EQ(store_->release("job", claim.id), ReleaseOutcome::released);
          ++granted;
        }
      }
      return granted;
    }));
  }
  int granted = 0;
  for (std::future<int>& caller : callers) {
    granted += caller.get();
  }
  EXPECT_GE(granted, 1);
  EXPECT_TRUE(holders("job").empty());
}

TEST_F(Joined, AreServedThoughTheyReleasePermits) {
  std::vector<std::future<void>> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.push_back(std::async(std::launch::async, [this] {
      for (int i = 0; i < kTurns; ++i) {
        const Claim claim = wish(store::Permits::of(1, kCallers));
        expect<Grant>(store_->claim("pool", claim));
        EXPECT_EQ(store_->release("pool", claim.id), ReleaseOutcome::released);
      }
    }));
  }
  for (std::future<void>& caller : callers) {
    caller.get();
  }
}

TEST_F(Joined, AreServedThoughOneOfThemMustNotAsk) {
  open_with_queues("~hfq:{job*");
  const std::jthread unwanted([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      EXPECT_FALSE(store_->claim("other", wish()).has_value());
    }
  });
  claim_and_release();
}

TEST_F(Joined, AreServedThoughTheQueuesOfSomeMustNotBeRead) {
  open_with_queues("~hfq:{job?1*");
  claim_and_release();
}

}  // namespace
}  // namespace holdfast::tests
