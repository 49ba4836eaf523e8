#include <tests/simulation/timeline.h>

#include <string>

#include <gtest/gtest.h>
#include <tests/simulation/drifting_clock.h>

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

class TimelineTest : public ::testing::Test {
 protected:
  void add(base::Duration when, char name, Actor* actor = nullptr) {
    timeline_.at(base::TimePoint(when), actor, [this, name] { happened_ += name; });
  }
  void run(base::Duration until) {
    while (timeline_.step(base::TimePoint(until))) {
    }
  }

  Timeline timeline_;
  std::string happened_;
};

TEST_F(TimelineTest, EventsHappenInTheOrderOfTheirTimesAndThenOfTheirComing) {
  add(2s, 'c');
  add(1s, 'a');
  add(1s, 'b');
  run(1500ms);
  EXPECT_EQ(happened_, "ab");
  EXPECT_EQ(timeline_.now(), base::TimePoint(1500ms));
  run(3s);
  EXPECT_EQ(happened_, "abc");
}

TEST_F(TimelineTest, EventsOfAStoppedActorHappenWhenItGoesOn) {
  Actor actor(timeline_);
  add(1s, 'a', &actor);
  add(2s, 'b', &actor);
  add(2s, 'c');
  actor.stop();
  run(3s);
  EXPECT_EQ(happened_, "c");
  actor.go_on();
  run(3s);
  EXPECT_EQ(happened_, "cab");
  EXPECT_EQ(actor.stopped_for(), 3s);
}

TEST_F(TimelineTest, AnEventInThePastHappensNow) {
  run(5s);
  add(1s, 'a');
  EXPECT_TRUE(timeline_.step(base::TimePoint(5s)));
  EXPECT_EQ(timeline_.now(), base::TimePoint(5s));
}

TEST_F(TimelineTest, AClockThatRunsTooFastShowsATimeSooner) {
  for (const int rate : {-8'000, 0, 8'000}) {
    const DriftingClock clock(timeline_, 1000s, rate);
    const base::TimePoint reading = clock.now() + 100s + 1ns;
    const base::TimePoint when = clock.true_time(reading);
    EXPECT_NEAR(std::chrono::duration<double>(when - timeline_.now()).count(),
                100 / (1 + rate / 1e6), 0.05);
    Timeline later;
    EXPECT_FALSE(later.step(when));
    const DriftingClock then(later, 1000s, rate);
    EXPECT_GE(then.now(), reading);
    EXPECT_LE(then.now(), reading + 2ns);
  }
}

}  // namespace
}  // namespace holdfast::simulation
