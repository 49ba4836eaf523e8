// Fail-overs under load: eight workers compete for one name while masters die, hang and move.
//
// HOLDFAST_FAILOVER_ROUNDS=20 repeats each kind so often; ctest runs one round.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include <tests/redis/crowd.h>
#include <tests/redis/redis_test.h>
#include <tests/support/sentinel_set.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

int rounds() {
  const char* const text = std::getenv("HOLDFAST_FAILOVER_ROUNDS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

class SentinelFailover : public ::testing::Test {
 protected:
  static SentinelSet& set() {
    static SentinelSet kSet({.down_after = 1s});
    return kSet;
  }

  // Runs a crowd beside `fail_over`, and lets it go on afterwards. `mend` makes the set whole
  // again.
  static void run_rounds(std::string_view kind, void (*fail_over)(Crowd& crowd), void (*mend)(),
                         const std::string& options = "") {
    for (int round = 0; round < rounds(); ++round) {
      set().wait_until_whole();
      Crowd crowd(set().url() + options);
      ASSERT_TRUE(crowd.everybody_had_it_since(Crowd::Clock::now()));
      const auto from = Crowd::Clock::now();
      fail_over(crowd);
      ASSERT_TRUE(crowd.everybody_had_it_since(Crowd::Clock::now())) << kind;
      mend();
      // The old master is there again, and may not have noticed yet that it is none.
      ASSERT_TRUE(crowd.everybody_had_it_since(Crowd::Clock::now())) << kind;
      set().wait_until_whole();
      ASSERT_TRUE(crowd.everybody_had_it_since(Crowd::Clock::now())) << kind;
      for (const std::string& wrong : crowd.finish()) {
        ADD_FAILURE() << kind << ": " << wrong;
      }
      const auto pause =
          std::chrono::round<std::chrono::milliseconds>(crowd.longest_pause_since(from));
      std::cout << kind << ": nobody was without the name for longer than " << pause << ", "
                << crowd.grants() << " grants, " << crowd.overlaps() << " overlaps\n";
    }
  }

  // Returns once the crowd is served by another master than this.
  static void wait_for_another(std::uint16_t master) {
    EXPECT_TRUE(eventually([&] { return set().master_port() != master; }));
  }

  static void kill_master(Crowd&) {
    old_master = set().master_port();
    set().server_at(old_master).kill();
    wait_for_another(old_master);
  }

  static inline std::uint16_t old_master = 0;
};

TEST_F(SentinelFailover, AMasterIsKilledAndComesBackEmpty) {
  run_rounds("master killed", kill_master, [] { set().server_at(old_master).restart(); });
}

TEST_F(SentinelFailover, AMasterIsKilledWhileGrantsWaitForAReplica) {
  run_rounds(
      "master killed, ack=1", kill_master, [] { set().server_at(old_master).restart(); }, "?ack=1");
}

TEST_F(SentinelFailover, AMasterHangsAndContinuesWithStaleData) {
  run_rounds(
      "master stopped",
      [](Crowd&) {
        old_master = set().master_port();
        set().server_at(old_master).suspend();
        wait_for_another(old_master);
      },
      [] { set().server_at(old_master).resume(); });
}

TEST_F(SentinelFailover, AnAdministratorMovesTheMaster) {
  run_rounds(
      "moved by hand", [](Crowd&) { set().fail_over(); }, [] {});
}

TEST_F(SentinelFailover, AllSentinelsRestartAndThenTheMasterMoves) {
  run_rounds(
      "Sentinels restarted",
      [](Crowd& crowd) {
        const auto from = Crowd::Clock::now();
        for (std::size_t i = 0; i < SentinelSet::kSentinels; ++i) {
          set().sentinel(i).kill();
        }
        // The stores need no Sentinel as long as their connections live.
        EXPECT_TRUE(crowd.everybody_had_it_since(from));
        for (std::size_t i = 0; i < SentinelSet::kSentinels; ++i) {
          set().sentinel(i).restart();
        }
        set().fail_over();
      },
      [] {});
}

}  // namespace
}  // namespace holdfast::tests
