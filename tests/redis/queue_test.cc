// Tests of the queue of a name: which claims are in it, and at which position.

#include <atomic>
#include <string>

#include <tests/redis/given.h>

namespace holdfast::tests {
namespace {

using base::LeaseId;
using store::Grant;
using store::ReleaseOutcome;

class InQueue : public Given {};

TEST_F(InQueue, AWaiterThatGivesUpIsGrantedNothing) {
  Claimant waiting(server_.port());
  waiting.watch.reset();
  EXPECT_EQ(waiting.store->release("job", waiting.claim.id), ReleaseOutcome::not_held);
  EXPECT_EQ(in_queue(), 0);
  release("job", first_.id);
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(InQueue, AWaiterThatGivesUpLeavesTheOthersOfItsStoreInTheQueue) {
  Claimant waiting(server_.port());
  EXPECT_EQ(waiting.store->release("job", waiting.claim.id), ReleaseOutcome::not_held);
  EXPECT_EQ(in_queue(), 1);
  release("job", first_.id);
  EXPECT_TRUE(waiting.is_told());
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(InQueue, AWaiterThatGivesUpPassesItsHintOn) {
  Claimant unwilling(server_.port());
  Claimant next(server_.port());
  run({"DEL", "hf:{job}"});
  release("job", first_.id);
  ASSERT_TRUE(unwilling.is_told());
  ASSERT_EQ(next.calls, 0);
  unwilling.watch.reset();
  EXPECT_EQ(unwilling.store->release("job", unwilling.claim.id), ReleaseOutcome::not_held);
  EXPECT_TRUE(next.is_told());
}

TEST_F(InQueue, AClaimThatWaitsNoLongerLeavesTheQueue) {
  Claimant waiting(server_.port());
  waiting.claim.waits = false;
  EXPECT_FALSE(expect<store::Busy>(waiting.ask()).pending);
  EXPECT_EQ(in_queue(), 0);
  release("job", first_.id);
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(InQueue, AClaimThatWaitsNoLongerLeavesTheWatchesOfItsStoreInTheQueue) {
  Claimant waiting(server_.port());
  std::atomic<int> calls = 0;
  const auto watch =
      base::value_or_throw(waiting.store->watch("job", [&](const auto&) { ++calls; }));
  waiting.claim.waits = false;
  EXPECT_FALSE(expect<store::Busy>(waiting.ask()).pending);
  EXPECT_EQ(in_queue(), 1);
  release("job", first_.id);
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(InQueue, AStoreWhoseClaimWaitsIsInTheQueueOnce) {
  const auto store = open_store(server_.port());
  store::Claim claim = wish();
  claim.waits = true;
  EXPECT_TRUE(expect<store::Busy>(store->claim("job", claim)).pending);
  const auto watch = base::value_or_throw(store->watch("job", [](const auto&) {}));
  EXPECT_EQ(in_queue(), 1);
  EXPECT_TRUE(expect<store::Busy>(store->claim("job", claim)).pending);
  EXPECT_EQ(in_queue(), 1);
}

// A waiter that was handed the name in its process, and has joined the queue meanwhile.
TEST_F(InQueue, ACallerThatReleasesTheNameIsNotInTheQueue) {
  Claimant waiting(server_.port());
  Claimant other(server_.port());
  expect<Grant>(store_->transfer("job", first_.id, other.claim));
  ASSERT_EQ(in_queue(), 2);
  other.watch.reset();
  EXPECT_EQ(other.store->release("job", other.claim.id), ReleaseOutcome::released);
  EXPECT_EQ(in_queue(), 0);
  EXPECT_EQ(holder(), waiting.claim.id);
}

TEST_F(InQueue, ACallerThatIsHandedTheNameIsNotInTheQueue) {
  Claimant waiting(server_.port());
  expect<Grant>(waiting.store->transfer("job", first_.id, waiting.claim));
  EXPECT_EQ(in_queue(), 0);
}

TEST_F(InQueue, ACallerThatIsHandedTheNameAgainIsNotInTheQueue) {
  Claimant waiting(server_.port());
  expect<Grant>(store_->transfer("job", first_.id, waiting.claim));
  expect<Grant>(waiting.store->transfer("job", first_.id, waiting.claim));
  EXPECT_EQ(in_queue(), 0);
}

TEST_F(InQueue, ACallerThatHandsOnALostLeaseIsNotInTheQueue) {
  Claimant waiting(server_.port());
  expect<store::Lost>(waiting.store->transfer("job", waiting.claim.id, wish()));
  EXPECT_EQ(in_queue(), 0);
}

TEST_F(InQueue, ACallerThatHandsTheNameOnIsNotInTheQueue) {
  Claimant waiting(server_.port());
  Claimant other(server_.port());
  expect<Grant>(store_->transfer("job", first_.id, other.claim));
  expect<Grant>(other.store->transfer("job", other.claim.id, wish()));
  EXPECT_EQ(in_queue(), 1);
}

TEST_F(InQueue, ACallerThatFindsThatItWasHandedTheNameIsNotInTheQueue) {
  Claimant waiting(server_.port());
  expect<Grant>(store_->transfer("job", first_.id, waiting.claim));
  ASSERT_EQ(in_queue(), 1);
  expect<Grant>(waiting.ask());
  EXPECT_EQ(in_queue(), 0);
}

TEST_F(InQueue, ACallerThatFoundTheNameFreeIsNotInTheQueue) {
  Claimant waiting(server_.port());
  run({"DEL", "job"});
  expect<Grant>(waiting.ask());
  EXPECT_EQ(in_queue(), 0);
}

// Where it is found free by way of the long script, too.
TEST_F(InQueue, ACallerThatFoundAFreeNameWithAnOldNoteIsNotInTheQueue) {
  Claimant waiting(server_.port());
  run({"DEL", "job"});
  change_note(Field::kept_until, "1000000000");
  expect<Grant>(waiting.ask());
  EXPECT_EQ(in_queue(), 0);
}

TEST_F(InQueue, WhateverIsInTheQueuesPlaceAFreeNameIsGranted) {
  Claimant waiting(server_.port());
  run({"DEL", "job", kQueue});
  run({"SET", kQueue, "no queue"});
  expect<Grant>(waiting.ask());
  expect<Grant>(waiting.ask());  // the same, by way of the long script
  EXPECT_EQ(run({"GET", kQueue}), "no queue");
}

TEST_F(InQueue, AReleaseLooksAtABoundedNumberOfDeadMembers) {
  run({"EVAL",
       "for i = 1, 100000 do redis.call('ZADD', KEYS[1], i, "
       "string.format('%032x %032x', i, i)) end",
       "1", kQueue});
  EXPECT_EQ(release("job", first_.id), ReleaseOutcome::released);
  EXPECT_EQ(holder(), LeaseId());
  EXPECT_LE(calls("zpopmin"), 200);
  EXPECT_GE(in_queue(), 100'000 - 200);
}

TEST_F(InQueue, AMemberIsNotDeadWhileItsStoreBeginsToListen) {
  const auto store = open_store(server_.port());
  store::Claim claim = wish();
  claim.waits = true;
  EXPECT_TRUE(expect<store::Busy>(store->claim("job", claim)).pending);
  set_joined(first_in_queue(), kInTheFuture);
  const Claimant next(server_.port());  // looks at both members as it joins
  EXPECT_EQ(in_queue(), 2);
}

// Wherever they are: here the first member is alive.
TEST_F(InQueue, DeadMembersAreRemovedAsOthersJoin) {
  Claimant waiting(server_.port());
  run({"EVAL",
       "for i = 1, 100 do redis.call('ZADD', KEYS[1], 9000000000000000 + i, "
       "string.format('%032x %032x', i, i)) end",
       "1", kQueue});
  ASSERT_EQ(in_queue(), 101);
  EXPECT_TRUE(eventually([&] {
    const Claimant passing(server_.port());  // dead a moment later
    return in_queue() < 10;
  }));
  EXPECT_NE(run({"ZRANGE", kQueue, "0", "0"}).find(to_string(waiting.claim.id)), std::string::npos);
}

TEST_F(InQueue, ACallerThatReleasesWhereOthersWaitQueuesBehindThem) {
  Claimant waiting(server_.port());
  Claimant next(server_.port());
  const auto watch = base::value_or_throw(store_->watch("job", [](const auto&) {}));
  run({"ZPOPMAX", kQueue});  // as if it had been notified already
  ASSERT_EQ(in_queue(), 2);
  release("job", first_.id);
  EXPECT_EQ(in_queue(), 2);  // before it looks, which would put it there, too
  EXPECT_NE(run({"ZRANGE", kQueue, "0", "0"}).find(to_string(next.claim.id)), std::string::npos);
  EXPECT_EQ(holder(), waiting.claim.id);
}

}  // namespace
}  // namespace holdfast::tests
