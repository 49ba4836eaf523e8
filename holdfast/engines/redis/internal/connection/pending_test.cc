#include <holdfast/engines/redis/internal/connection/pending.h>

#include <array>

#include <gtest/gtest.h>

namespace holdfast::engines::redis::internal {
namespace {

const Command kPing("PING");

struct Asked {
  Caller caller;
  Call call{.command = &kPing, .caller = &caller, .deadline = base::Deadline::never()};
};

void send(Flight& flight, Asked& asked) { flight.push_back(std::array{&asked.call}, {}); }

TEST(Line, LetsAnyoneLeave) {
  Asked a;
  Asked b;
  Asked c;
  Line line;
  for (Asked* each : {&a, &b, &c}) {
    line.push_back(each->call);
  }
  line.remove(b.call);
  EXPECT_EQ(line.front(), &a.call);
  line.remove(a.call);
  EXPECT_EQ(line.front(), &c.call);
  EXPECT_EQ(line.back(), &c.call);
  line.remove(c.call);
  EXPECT_EQ(line.front(), nullptr);
  EXPECT_EQ(line.back(), nullptr);
}

TEST(Flight, KeepsTheOrderOfTheCalls) {
  Asked one;
  Asked two;
  Flight flight;
  send(flight, one);
  send(flight, two);
  EXPECT_EQ(flight.pop_front().call, &one.call);
  EXPECT_FALSE(one.call.ticket);
  EXPECT_EQ(flight.pop_front().call, &two.call);
  EXPECT_TRUE(flight.empty());
}

TEST(Flight, KeepsThePlaceOfACallThatLeft) {
  Asked first;
  Asked left;
  Asked last;
  Flight flight;
  for (Asked* each : {&first, &left, &last}) {
    send(flight, *each);
  }
  EXPECT_EQ(flight.pop_front().call, &first.call);
  flight.leave(left.call);
  EXPECT_FALSE(left.call.ticket);
  EXPECT_EQ(flight.newest(), &last.call);
  const Flight::Place thrown_away = flight.pop_front();
  EXPECT_EQ(thrown_away.call, nullptr);
  EXPECT_EQ(thrown_away.bytes, kPing.bytes().size());
  EXPECT_EQ(flight.pop_front().call, &last.call);
}

TEST(Flight, KnowsHowManyCallsAReplyIsFor) {
  Asked first;
  Asked one;
  Asked left;
  Asked three;
  Flight flight;
  send(flight, first);
  flight.push_back(std::array{&one.call, &left.call, &three.call}, {});
  flight.leave(left.call);
  EXPECT_FALSE(first.call.was_joined);
  EXPECT_TRUE(three.call.was_joined);
  EXPECT_EQ(flight.front().joined, 1U);
  EXPECT_EQ(flight.pop_front().call, &first.call);
  EXPECT_EQ(flight.front().joined, 3U);
  EXPECT_EQ(flight.pop_front().call, &one.call);
  EXPECT_EQ(flight.pop_front().call, nullptr);
  EXPECT_EQ(flight.pop_front().call, &three.call);
  EXPECT_TRUE(flight.empty());
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
