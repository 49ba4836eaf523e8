// The order in which waiters enter.
#include <cstddef>

#include <gtest/gtest.h>

#include <holdfast/async/async_key_lock.h>
#include <holdfast/async/key_testing_support.h>

namespace holdfast::async {
namespace {

using testing_support::Line;
using testing_support::Names;
using testing_support::settle;
namespace asio = boost::asio;

class AsyncKeyOrder : public testing::Test {
 protected:
  AsyncKeyLock keys;
  asio::io_context context;
  Line line{keys, context};
};

TEST_F(AsyncKeyOrder, WritersEnterOneByOneInOrderOfArrival) {
  for (const char* name : {"a", "b", "c"}) line.writer(name);
  EXPECT_EQ(line.news(), (Names{"a"}));
  line.let_go("a");
  EXPECT_EQ(line.news(), (Names{"b"}));
  line.let_go("b");
  EXPECT_EQ(line.news(), (Names{"c"}));
  line.let_go("c");
  EXPECT_EQ(keys.size(), 0U);
}

TEST_F(AsyncKeyOrder, AReaderDoesNotPassAWaitingWriter) {
  line.reader("first");
  line.writer("writer");
  line.reader("late");
  EXPECT_EQ(line.news(), (Names{"first"}));
  EXPECT_FALSE(keys.try_lock_shared("k"));
  line.let_go("first");
  EXPECT_EQ(line.news(), (Names{"writer"}));
  line.let_go("writer");
  EXPECT_EQ(line.news(), (Names{"late"}));
}

TEST_F(AsyncKeyOrder, AdjacentReadersEnterTogether) {
  line.writer("w1");
  for (const char* name : {"r1", "r2", "r3"}) line.reader(name);
  line.writer("w2");
  line.reader("r4");
  EXPECT_EQ(line.news(), (Names{"w1"}));
  line.let_go("w1");
  EXPECT_EQ(line.news(), (Names{"r1", "r2", "r3"}));
  line.let_go("r2");
  line.let_go("r1");
  EXPECT_EQ(line.news(), Names{});
  line.let_go("r3");
  EXPECT_EQ(line.news(), (Names{"w2"}));
  line.let_go("w2");
  EXPECT_EQ(line.news(), (Names{"r4"}));
}

TEST_F(AsyncKeyOrder, ATryDoesNotPassWaiters) {
  line.writer("a");
  line.writer("b");
  line.let_go("a");
  // The key belongs to b from the moment at which a unlocked it.
  EXPECT_FALSE(keys.try_lock("k"));
  EXPECT_EQ(line.news(), (Names{"a", "b"}));
}

TEST_F(AsyncKeyOrder, ACancelledWaiterLeavesTheOthersInOrder) {
  line.writer("holder");
  for (const char* name : {"a", "b", "c", "d"}) line.writer(name);
  line.cancel("b");
  line.cancel("d");
  EXPECT_EQ(line.news(), (Names{"holder", "b cancelled", "d cancelled"}));
  line.writer("e");
  for (const char* name : {"holder", "a", "c", "e"}) line.let_go(name);
  EXPECT_EQ(line.news(), (Names{"a", "c", "e"}));
  EXPECT_EQ(keys.size(), 0U);
}

TEST_F(AsyncKeyOrder, WhenAWaitingWriterIsCancelledTheReadersBehindItEnter) {
  line.reader("in");
  line.writer("writer");
  line.reader("r1");
  line.reader("r2");
  line.cancel("writer");
  EXPECT_EQ(line.news(), (Names{"in", "writer cancelled", "r1", "r2"}));
}

// Returns how many handlers the executor runs until all these waiters have had the key.
std::size_t handlers_for(int waiters) {
  AsyncKeyLock keys;
  asio::io_context context;
  const auto turn = [&]() -> asio::awaitable<void> { const auto guard = co_await keys.lock("k"); };
  auto held = keys.try_lock("k");
  for (int i = 0; i < waiters; ++i) asio::co_spawn(context, turn(), asio::detached);
  settle(context);
  held.reset();
  context.restart();
  return context.run();
}

TEST_F(AsyncKeyOrder, AHandOverCostsTheSameHoweverManyWait) {
  EXPECT_EQ(handlers_for(1'000), 10 * handlers_for(100));
}

}  // namespace
}  // namespace holdfast::async
