// A release gives the name to the claim that waits for it.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <sstream>
#include <string>

#include <tests/redis/held_job.h>

#include <holdfast/store/async_lease_store.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::LeaseId;
using engines::redis::RedisStore;
using store::Busy;
using store::Claim;
using store::Grant;
using store::ReleaseOutcome;

// A store of its own with a claim for "job" that was refused and waits.
struct Claimant {
  explicit Claimant(std::uint16_t port)
      : store(open_store(port)),
        watch(base::value_or_throw(store->watch("job", [this] { ++calls; }))) {
    claim.waits = true;
    refusal = expect<Busy>(store->claim("job", claim));
  }

  [[nodiscard]] bool is_told() const {
    return eventually([this] { return calls > 0; });
  }
  [[nodiscard]] base::Result<store::ClaimOutcome> ask() { return store->claim("job", claim); }

  std::atomic<int> calls = 0;
  std::unique_ptr<RedisStore> store;
  store::Watch watch;
  Claim claim = wish();
  Busy refusal;
};

class Given : public HeldJob {
 protected:
  // As if a script had given it the name, and the message came only now.
  void tell(Claimant& waiting, base::FencingToken token) {
    waiting.calls = 0;
    const std::string channels = run({"PUBSUB", "CHANNELS", "hf:wake:*"});  // [its channel]
    ASSERT_EQ(run({"PUBLISH", channels.substr(1, channels.size() - 2),
                   "grant " + to_string(token) + " " + to_string(waiting.claim.id) + " job"}),
              "1");
    ASSERT_TRUE(waiting.is_told());
  }

  // Puts something else into a field of the note on "job": see record.lua.
  enum class Field : std::size_t { token, kept_until, granted, lasts, id };
  void change_note(Field field, const std::string& value) {
    std::istringstream words(run({"GET", "hf:{job}"}));
    std::string text;
    std::string word;
    for (std::size_t i = 0; std::getline(words, word, ' '); ++i) {
      text.append(i == 0 ? "" : " ").append(i == static_cast<std::size_t>(field) ? value : word);
    }
    run({"SET", "hf:{job}", text, "KEEPTTL"});
  }
};

TEST_F(Given, AReleaseGivesTheNameToTheClaimThatWaits) {
  Claimant waiting(server_.port());
  EXPECT_TRUE(waiting.refusal.pending);
  EXPECT_EQ(release("job", first_.id), ReleaseOutcome::released);
  const auto all = holders("job");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].id, waiting.claim.id);
  EXPECT_EQ(all[0].owner, waiting.claim.owner);
  EXPECT_EQ(all[0].reason, waiting.claim.reason);
  EXPECT_GT(all[0].token, granted_.token);
  EXPECT_LT(all[0].time_left, kShort);
  EXPECT_TRUE(waiting.is_told());
  EXPECT_EQ(in_queue(), 0);
}

TEST_F(Given, WhoWasGivenTheNameNeedNotAsk) {
  const auto began = std::chrono::steady_clock::now();
  Claimant waiting(server_.port());
  release("job", first_.id);
  ASSERT_TRUE(waiting.is_told());
  const auto all = holders("job");
  const int scripts = calls("evalsha");
  const auto grant = expect<Grant>(waiting.ask());
  EXPECT_EQ(grant.token, all.at(0).token);
  EXPECT_LT(grant.time_left, kShort);
  // Unless so much time has passed that it asked after all.
  EXPECT_TRUE(calls("evalsha") == scripts || std::chrono::steady_clock::now() - began >= 1s);
  EXPECT_EQ(waiting.store->release("job", waiting.claim.id), ReleaseOutcome::released);
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(Given, AGrantLastsOnceItIsRenewed) {
  Claimant waiting(server_.port());
  release("job", first_.id);
  ASSERT_EQ(renew("job", waiting.claim.id), store::RenewOutcome::renewed);
  EXPECT_GT(holders("job").at(0).time_left, kShort);
}

TEST_F(Given, WhoSaysNothingKeepsTheNameForSecondsOnly) {
  Claimant silent(server_.port());
  release("job", first_.id);
  ASSERT_EQ(holder(), silent.claim.id);
  const Claim next = wish();
  EXPECT_TRUE(eventually([&] {
    return std::holds_alternative<Grant>(base::value_or_throw(store_->claim("job", next)));
  }));
}

TEST_F(Given, AGrantThatIsHeardOfLateIsNotTaken) {
  Claimant waiting(server_.port());
  tell(waiting, granted_.token);  // as old as the refusal
  expect<Busy>(waiting.ask());
  // The message itself is understood, if it comes soon: nothing but its token was wrong.
  EXPECT_TRUE(eventually([&] {
    tell(waiting, base::FencingToken(granted_.token.value() + 1));
    return std::holds_alternative<Grant>(base::value_or_throw(waiting.ask()));
  }));
}

TEST_F(Given, WhoAsksForWhatItWasGivenGetsAWholeLease) {
  Claimant waiting(server_.port());
  Claim brief = waiting.claim;
  brief.ttl = 2s;
  expect<Grant>(store_->transfer("job", first_.id, brief));  // of which it is not told
  EXPECT_GT(expect<Grant>(waiting.ask()).time_left, kShort);
  EXPECT_GT(holders("job").at(0).time_left, kShort);
}

TEST_F(Given, WhoGivesUpIsGivenNothing) {
  Claimant waiting(server_.port());
  waiting.watch.reset();
  EXPECT_EQ(waiting.store->release("job", waiting.claim.id), ReleaseOutcome::not_held);
  EXPECT_EQ(in_queue(), 0);
  release("job", first_.id);
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(Given, WhoGivesUpLeavesBehindWhoElseWaitsAtItsStore) {
  Claimant waiting(server_.port());
  EXPECT_EQ(waiting.store->release("job", waiting.claim.id), ReleaseOutcome::not_held);
  EXPECT_EQ(in_queue(), 1);
  release("job", first_.id);
  EXPECT_TRUE(waiting.is_told());
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(Given, WhoGivesUpPassesOnWhatItWasTold) {
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

TEST_F(Given, WhoWasGivenTheNameAndDoesNotWantItGivesItToTheNext) {
  Claimant unwilling(server_.port());
  Claimant next(server_.port());
  release("job", first_.id);
  ASSERT_EQ(holder(), unwilling.claim.id);
  unwilling.watch.reset();
  EXPECT_EQ(unwilling.store->release("job", unwilling.claim.id), ReleaseOutcome::released);
  EXPECT_EQ(holder(), next.claim.id);
}

TEST_F(Given, ItsStoreIsGone) {
  {
    const Claimant gone(server_.port());
  }
  Claimant next(server_.port());
  // The server may not have noticed yet.
  ASSERT_TRUE(eventually(
      [&] { return run({"PUBSUB", "CHANNELS", "hf:*"}).find(' ') == std::string::npos; }));
  const int published = calls("publish");
  release("job", first_.id);
  EXPECT_EQ(holder(), next.claim.id);
  // Nor is it told: it may listen at a replica, where it would hear that the name is its own.
  EXPECT_EQ(calls("publish"), published + 1);
}

TEST_F(Given, NobodyIsGivenWhatIsStillHeld) {
  Claimant waiting(server_.port());
  EXPECT_EQ(release("job", LeaseId::generate()), ReleaseOutcome::not_held);
  EXPECT_EQ(holder(), first_.id);
  EXPECT_EQ(in_queue(), 1);
}

TEST_F(Given, AClaimThatDoesNotWaitIsGivenNothing) {
  const auto store = open_store(server_.port());
  std::atomic<int> calls = 0;
  const auto watch = base::value_or_throw(store->watch("job", [&] { ++calls; }));
  EXPECT_FALSE(expect<Busy>(store->claim("job", wish())).pending);
  release("job", first_.id);
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(Given, AClaimThatNobodyWatchesForIsGivenNothing) {
  const auto store = open_store(server_.port());
  Claim claim = wish();
  claim.waits = true;
  EXPECT_FALSE(expect<Busy>(store->claim("job", claim)).pending);
  release("job", first_.id);
  EXPECT_EQ(holder(), LeaseId());
}

// Who was handed the name in its process, and came to stand in the queue meanwhile.
TEST_F(Given, WhoReleasesTheNameStandsInTheQueueNoMore) {
  Claimant waiting(server_.port());
  Claimant other(server_.port());
  expect<Grant>(store_->transfer("job", first_.id, other.claim));
  ASSERT_EQ(in_queue(), 2);
  other.watch.reset();
  EXPECT_EQ(other.store->release("job", other.claim.id), ReleaseOutcome::released);
  EXPECT_EQ(in_queue(), 0);
  EXPECT_EQ(holder(), waiting.claim.id);
}

TEST_F(Given, WhoIsHandedTheNameStandsInTheQueueNoMore) {
  Claimant waiting(server_.port());
  expect<Grant>(waiting.store->transfer("job", first_.id, waiting.claim));
  EXPECT_EQ(in_queue(), 0);
}

TEST_F(Given, WhoIsHandedTheNameAgainStandsInTheQueueNoMore) {
  Claimant waiting(server_.port());
  expect<Grant>(store_->transfer("job", first_.id, waiting.claim));
  expect<Grant>(waiting.store->transfer("job", first_.id, waiting.claim));
  EXPECT_EQ(in_queue(), 0);
}

TEST_F(Given, WhoHandsOnWhatItHasLostStandsInTheQueueNoMore) {
  Claimant waiting(server_.port());
  expect<store::Lost>(waiting.store->transfer("job", waiting.claim.id, wish()));
  EXPECT_EQ(in_queue(), 0);
}

TEST_F(Given, WhoHandsTheNameOnStandsInTheQueueNoMore) {
  Claimant waiting(server_.port());
  Claimant other(server_.port());
  expect<Grant>(store_->transfer("job", first_.id, other.claim));
  expect<Grant>(other.store->transfer("job", other.claim.id, wish()));
  EXPECT_EQ(in_queue(), 1);
}

TEST_F(Given, WhoFindsThatItWasHandedTheNameStandsInTheQueueNoMore) {
  Claimant waiting(server_.port());
  expect<Grant>(store_->transfer("job", first_.id, waiting.claim));
  ASSERT_EQ(in_queue(), 1);
  expect<Grant>(waiting.ask());
  EXPECT_EQ(in_queue(), 0);
}

TEST_F(Given, WhoFoundTheNameFreeStandsInTheQueueNoMore) {
  Claimant waiting(server_.port());
  run({"DEL", "job"});
  expect<Grant>(waiting.ask());
  EXPECT_EQ(in_queue(), 0);
}

// Where it is found free by way of the long script, too.
TEST_F(Given, WhoFoundAFreeNameWithAnOldNoteStandsInTheQueueNoMore) {
  Claimant waiting(server_.port());
  run({"DEL", "job"});
  change_note(Field::kept_until, "1000000000");
  expect<Grant>(waiting.ask());
  EXPECT_EQ(in_queue(), 0);
}

TEST_F(Given, WhateverIsInTheQueuesPlaceAFreeNameIsGranted) {
  Claimant waiting(server_.port());
  run({"DEL", "job", kQueue});
  run({"SET", kQueue, "no queue"});
  expect<Grant>(waiting.ask());
  expect<Grant>(waiting.ask());  // the same, by way of the long script
  EXPECT_EQ(run({"GET", kQueue}), "no queue");
}

TEST_F(Given, NobodyIsGivenWhatItHasItself) {
  Claimant waiting(server_.port());
  const std::string queue = run({"ZRANGE", kQueue, "0", "-1"});  // [its claim]
  release("job", first_.id);
  run({"ZADD", kQueue, "1", queue.substr(1, queue.size() - 2)});
  EXPECT_EQ(waiting.store->release("job", waiting.claim.id), ReleaseOutcome::released);
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(Given, NobodyIsGivenALeaseThatIsOver) {
  Claimant waiting(server_.port());
  change_note(Field::granted, "1000000000000000");
  EXPECT_EQ(release("job", first_.id), ReleaseOutcome::not_held);
  EXPECT_EQ(holder(), LeaseId());
  EXPECT_EQ(in_queue(), 1);
  EXPECT_GT(std::stoi(run({"PTTL", kQueue})), 0);
}

TEST_F(Given, NobodyIsGivenALeaseThatTheNoteDoesNotTellOf) {
  Claimant waiting(server_.port());
  change_note(Field::id, to_string(LeaseId::generate()));
  EXPECT_EQ(release("job", first_.id), ReleaseOutcome::released);
  EXPECT_TRUE(waiting.is_told());
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(Given, TokensGrowThoughTheServersClockWasSetBack) {
  Claimant waiting(server_.port());
  change_note(Field::token, "8000000000000000");
  EXPECT_EQ(release("job", first_.id), ReleaseOutcome::released);
  EXPECT_TRUE(waiting.is_told());
  EXPECT_EQ(expect<Grant>(waiting.ask()).token, base::FencingToken(8000000000000001));
}

TEST_F(Given, TheNoteIsKeptForLongEnough) {
  Claimant waiting(server_.port());
  change_note(Field::kept_until, "1000000000");
  run({"PEXPIRE", "hf:{job}", "600000"});
  release("job", first_.id);
  EXPECT_TRUE(waiting.is_told());
  expect<Grant>(waiting.ask());
  // An hour, which is how long a token is remembered.
  EXPECT_GE(std::stoi(run({"TTL", "hf:{job}"})), 3600);
}

TEST_F(Given, WhereTheNoteIsLostOneIsTold) {
  Claimant waiting(server_.port());
  run({"DEL", "hf:{job}"});
  EXPECT_EQ(release("job", first_.id), ReleaseOutcome::released);
  EXPECT_TRUE(waiting.is_told());
  EXPECT_EQ(holder(), LeaseId());
  expect<Grant>(waiting.ask());
}

TEST_F(Given, WhoCannotBeToldIsGivenNothing) {
  run({"ACL", "SETUSER", "mute", "on", ">word", "~*", "+@all", "resetchannels"});
  const auto mute = base::value_or_throw(RedisStore::open(
      {.host = "127.0.0.1", .port = server_.port(), .user = "mute", .password = "word"}));
  const Claimant waiting(server_.port());
  EXPECT_EQ(mute->release("job", first_.id), ReleaseOutcome::released);
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(Given, WhoReleasesWhereSomebodyWaitsStandsBehindTheOthers) {
  Claimant waiting(server_.port());
  Claimant next(server_.port());
  const auto watch = base::value_or_throw(store_->watch("job", [] {}));
  run({"ZPOPMAX", kQueue});  // as if it had been told already
  ASSERT_EQ(in_queue(), 2);
  release("job", first_.id);
  EXPECT_EQ(in_queue(), 2);  // before it looks, which would put it there, too
  EXPECT_NE(run({"ZRANGE", kQueue, "0", "0"}).find(to_string(next.claim.id)), std::string::npos);
  EXPECT_EQ(holder(), waiting.claim.id);
}

// A server that was told of a lock by somebody else knows no token of it.
TEST_F(Given, NothingIsTakenFromAForeignHolder) {
  release("job", first_.id);
  run({"SET", "job", "foreign", "NX", "PX", "600000"});
  Claimant waiting(server_.port());
  EXPECT_TRUE(waiting.refusal.pending);
  tell(waiting, base::FencingToken(8000000000000001));
  expect<Busy>(waiting.ask());
}

// It may be the parent's.
TEST_F(Given, AForkedChildTakesNothing) {
  Claimant waiting(server_.port());
  release("job", first_.id);
  ASSERT_TRUE(waiting.is_told());
  const pid_t child = ::fork();
  if (child == 0) {
    bool is_refused = false;
    waiting.store->async()->claim("job", waiting.claim, base::Deadline::never(), [&](auto outcome) {
      is_refused = !outcome && outcome.error().code == base::ErrorCode::unsupported;
    });
    ::_exit(is_refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Given, AStoreThatGoesAnswersTheClaimThatIsUnderWay) {
  Claimant waiting(server_.port());
  std::optional<base::Result<store::ClaimOutcome>> answer;
  server_.suspend();
  waiting.store->async()->claim("job", waiting.claim, base::Deadline::never(),
                                [&](auto outcome) { answer = std::move(outcome); });
  waiting.watch.reset();
  waiting.store.reset();
  server_.resume();
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->has_value());
}

}  // namespace
}  // namespace holdfast::tests
