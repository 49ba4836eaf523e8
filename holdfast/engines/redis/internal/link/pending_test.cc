#include <holdfast/engines/redis/internal/link/pending.h>

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::engines::redis::internal {
namespace {

const std::array kCommands = {Command("PING"), Command("PING"), Command("PING")};

struct Caller {
  explicit Caller(std::size_t commands = 1) : replies(commands) {}

  std::vector<Reply> replies;
  Call call{.commands = std::span(kCommands).first(replies.size()),
            .replies = replies.data(),
            .deadline = base::Deadline::never()};
};

TEST(Line, LetsAnyoneLeave) {
  Caller a;
  Caller b;
  Caller c;
  Line line;
  for (Caller* caller : {&a, &b, &c}) {
    line.push_back(caller->call);
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

TEST(Flight, GivesRepliesInTheOrderOfTheCalls) {
  Caller one;
  Caller three(3);
  Flight flight;
  flight.push_back(one.call, {});
  flight.push_back(three.call, {});
  EXPECT_EQ(flight.deliver(Reply::of_integer(1)).finished, &one.call);
  EXPECT_EQ(flight.deliver(Reply::of_integer(2)).finished, nullptr);
  EXPECT_EQ(flight.deliver(Reply::of_integer(3)).finished, nullptr);
  const Flight::Arrival last = flight.deliver(Reply::of_integer(4));
  EXPECT_EQ(last.finished, &three.call);
  EXPECT_EQ(last.load.commands, 3U);
  EXPECT_EQ(one.replies[0].integer(), 1);
  EXPECT_EQ(three.replies[2].integer(), 4);
  EXPECT_TRUE(flight.empty());
}

TEST(Flight, KeepsThePlaceOfACallThatLeft) {
  Caller first;
  Caller left(2);
  Caller last;
  Flight flight;
  for (Caller* caller : {&first, &left, &last}) {
    flight.push_back(caller->call, {});
  }
  static_cast<void>(flight.deliver(Reply::of_integer(1)));
  flight.leave(left.call);
  EXPECT_EQ(flight.newest(), &last.call);
  static_cast<void>(flight.deliver(Reply::of_integer(2)));
  const Flight::Arrival thrown_away = flight.deliver(Reply::of_integer(3));
  EXPECT_EQ(thrown_away.finished, nullptr);
  EXPECT_EQ(thrown_away.load.commands, 2U);
  EXPECT_EQ(flight.deliver(Reply::of_integer(4)).finished, &last.call);
  EXPECT_EQ(last.replies[0].integer(), 4);
  EXPECT_EQ(left.call.received, 0U);
}

TEST(Flight, GivesThePartsOfAReplyToThoseThatWereJoined) {
  Caller first;
  Caller one;
  Caller left;
  Caller three;
  Caller last;
  Flight flight;
  flight.push_back(first.call, {});
  flight.push_joined(std::array{&one.call, &left.call, &three.call}, {});
  flight.push_back(last.call, {});
  flight.leave(left.call);
  EXPECT_EQ(flight.joined(), 1U);
  EXPECT_EQ(flight.deliver(Reply::of_integer(1)).finished, &first.call);
  EXPECT_EQ(flight.joined(), 3U);
  EXPECT_EQ(flight.deliver(Reply::of_integer(2)).finished, &one.call);
  EXPECT_EQ(flight.deliver(Reply::of_integer(3)).finished, nullptr);
  EXPECT_EQ(flight.deliver(Reply::of_integer(4)).finished, &three.call);
  EXPECT_EQ(flight.joined(), 1U);
  EXPECT_EQ(flight.deliver(Reply::of_integer(5)).finished, &last.call);
  EXPECT_EQ(one.replies[0].integer(), 2);
  EXPECT_EQ(three.replies[0].integer(), 4);
  EXPECT_TRUE(flight.empty());
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
