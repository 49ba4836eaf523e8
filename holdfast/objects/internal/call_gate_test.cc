#include <holdfast/objects/internal/call_gate.h>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::objects::internal {
namespace {

using namespace std::chrono_literals;

TEST(CallGate, AdmitsCallersUntilItIsClosed) {
  CallGate gate;
  CallGate::Place* const place = gate.enter();
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(gate.inside(), 1);
  gate.leave(*place);
  EXPECT_EQ(gate.inside(), 0);
  EXPECT_TRUE(gate.close(base::Deadline::never()));
  EXPECT_EQ(gate.enter(), nullptr);
  EXPECT_EQ(gate.inside(), 0);
  EXPECT_TRUE(gate.close(base::Deadline::never()));
}

TEST(CallGate, GivesUpAtTheDeadline) {
  CallGate gate;
  CallGate::Place* const place = gate.enter();
  EXPECT_FALSE(gate.close(base::Deadline::after(base::steady_clock(), 1ms)));
  EXPECT_EQ(gate.enter(), nullptr);
  gate.leave(*place);
  EXPECT_TRUE(gate.close(base::Deadline::after(base::steady_clock(), 1ms)));
}

TEST(CallGate, NoCallerIsInsideOnceItIsClosed) {
  for (int round = 0; round < 20; ++round) {
    CallGate gate;
    std::atomic<bool> closed = false;
    std::atomic<bool> met = false;
    std::atomic<int> running = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        ++running;
        while (CallGate::Place* const place = gate.enter()) {
          if (closed) met = true;
          gate.leave(*place);
        }
      });
    }
    while (running < 3) std::this_thread::yield();
    EXPECT_TRUE(gate.close(base::Deadline::never()));
    closed = true;
    threads.clear();
    EXPECT_FALSE(met);
  }
}

}  // namespace
}  // namespace holdfast::objects::internal
