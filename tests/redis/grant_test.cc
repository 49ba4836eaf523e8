// A release grants the name to the claim that waits for it.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string>

#include <tests/redis/given.h>

#include <holdfast/store/async_lease_store.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::LeaseId;
using store::Busy;
using store::Claim;
using store::Grant;
using store::ReleaseOutcome;

TEST_F(Given, AReleaseGivesTheNameToTheClaimThatWaits) {
  Claimant waiting(server_.port());
  EXPECT_EQ(release("job", first_.id), ReleaseOutcome::released);
  const auto all = holders("job");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].id, waiting.claim.id);
  EXPECT_GT(all[0].token, granted_.token);
  EXPECT_LT(all[0].time_left, kShort);
  EXPECT_TRUE(waiting.is_told());
  EXPECT_TRUE(waiting.granted);
  EXPECT_EQ(in_queue(), 0);
}

TEST_F(Given, TheClaimConfirmsItsGrantAndGetsAWholeLease) {
  Claimant waiting(server_.port());
  release("job", first_.id);
  ASSERT_TRUE(waiting.is_told());
  const auto before = holders("job");
  const auto grant = expect<Grant>(waiting.ask());
  EXPECT_EQ(grant.token, before.at(0).token);
  EXPECT_GT(grant.time_left, kShort);
  const auto after = holders("job");
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].id, waiting.claim.id);
  EXPECT_EQ(after[0].owner, waiting.claim.owner);
  EXPECT_EQ(after[0].reason, waiting.claim.reason);
  EXPECT_EQ(after[0].token, grant.token);
  EXPECT_GT(after[0].time_left, kShort);
  EXPECT_EQ(waiting.store->release("job", waiting.claim.id), ReleaseOutcome::released);
  EXPECT_EQ(holder(), LeaseId());
}

// The long script does so, too.
TEST_F(Given, AGrantWithAnOldNoteIsConfirmedAllTheSame) {
  Claimant waiting(server_.port());
  release("job", first_.id);
  ASSERT_EQ(holder(), waiting.claim.id);
  change_note(Field::kept_until, "1000000000");
  EXPECT_GT(expect<Grant>(waiting.ask()).time_left, kShort);
  EXPECT_EQ(holders("job").at(0).owner, waiting.claim.owner);
  EXPECT_GT(holders("job").at(0).time_left, kShort);
}

TEST_F(Given, AGrantLastsOnceItIsRenewed) {
  Claimant waiting(server_.port());
  release("job", first_.id);
  ASSERT_EQ(renew("job", waiting.claim.id), store::RenewOutcome::renewed);
  EXPECT_GT(holders("job").at(0).time_left, kShort);
}

TEST_F(Given, AGrantThatIsNotConfirmedKeepsTheNameForSecondsOnly) {
  Claimant silent(server_.port());
  release("job", first_.id);
  ASSERT_EQ(holder(), silent.claim.id);
  const Claim next = wish();
  EXPECT_TRUE(eventually([&] {
    return std::holds_alternative<Grant>(base::value_or_throw(store_->claim("job", next)));
  }));
}

TEST_F(Given, AForgedGrantIsNotBelieved) {
  Claimant waiting(server_.port());
  forge_grant(waiting);
  expect<Busy>(waiting.ask());
  EXPECT_EQ(holder(), first_.id);
  release("job", first_.id);
  EXPECT_EQ(expect<Grant>(waiting.ask()).token, holders("job").at(0).token);
}

TEST_F(Given, AGrantThatIsHeardOfTooLateIsNotBelieved) {
  Claimant waiting(server_.port());
  release("job", first_.id);
  ASSERT_EQ(release("job", waiting.claim.id), ReleaseOutcome::released);
  const Claim next = wish();
  expect<Grant>(store_->claim("job", next));
  ASSERT_TRUE(waiting.is_told());
  expect<Busy>(waiting.ask());
  EXPECT_EQ(holder(), next.id);
}

TEST_F(Given, AWaiterThatConfirmsItsGrantGetsAWholeLease) {
  Claimant waiting(server_.port());
  Claim brief = waiting.claim;
  brief.ttl = 2s;
  expect<Grant>(store_->transfer("job", first_.id, brief));  // of which it is not told
  EXPECT_GT(expect<Grant>(waiting.ask()).time_left, kShort);
  EXPECT_GT(holders("job").at(0).time_left, kShort);
}

TEST_F(Given, AGrantThatIsNotWantedGoesToTheNextWaiter) {
  Claimant unwilling(server_.port());
  Claimant next(server_.port());
  release("job", first_.id);
  ASSERT_EQ(holder(), unwilling.claim.id);
  unwilling.watch.reset();
  EXPECT_EQ(unwilling.store->release("job", unwilling.claim.id), ReleaseOutcome::released);
  EXPECT_EQ(holder(), next.claim.id);
}

// A replica that has become the master may have missed the end of a claim.
TEST_F(Given, AClaimThatHasEndedDeclinesWhatItIsGranted) {
  Claimant ended(server_.port());
  const std::string member = first_in_queue();
  Claimant next(server_.port());
  ended.watch.reset();
  EXPECT_EQ(ended.store->release("job", ended.claim.id), ReleaseOutcome::not_held);
  ASSERT_EQ(run({"ZADD", kQueue, "1", member}), "1");
  EXPECT_EQ(release("job", first_.id), ReleaseOutcome::released);
  // Told by a hint, before the time for the confirmation is over.
  ASSERT_TRUE(next.is_told());
  EXPECT_FALSE(next.granted);
  expect<Grant>(next.ask());
}

// A late message about a lease that its holder has confirmed.
TEST_F(Given, AHolderKeepsWhatItIsGrantedOnceMore) {
  Claimant waiting(server_.port());
  release("job", first_.id);
  ASSERT_TRUE(waiting.is_told());
  expect<Grant>(waiting.ask());
  change_note(Field::lasts, "1000000");  // as short as a lease that is still to be confirmed
  const int declined = calls("evalsha") + calls("eval");
  const std::string channels = run({"PUBSUB", "CHANNELS", "hf:wake:*"});
  ASSERT_EQ(run({"PUBLISH", channels.substr(1, channels.size() - 2),
                 "grant " + to_string(waiting.claim.id) + " job"}),
            "1");
  ASSERT_TRUE(eventually([&] { return calls("evalsha") + calls("eval") > declined; }));
  EXPECT_EQ(run({"GET", "job"}), to_string(waiting.claim.id));
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
  const auto watch = base::value_or_throw(store->watch("job", [&](const auto&) { ++calls; }));
  EXPECT_FALSE(expect<Busy>(store->claim("job", wish())).pending);
  release("job", first_.id);
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(Given, AClaimKeepsItsTurnWhileItsStoreBeginsToListen) {
  const auto store = open_store(server_.port());
  Claim claim = wish();
  claim.waits = true;
  EXPECT_TRUE(expect<Busy>(store->claim("job", claim)).pending);
  set_joined(first_in_queue(), kInTheFuture);  // however long the rest takes
  const Claimant next(server_.port());
  set_joined(first_in_queue(), kLater);
  release("job", first_.id);
  EXPECT_EQ(holder(), claim.id);
  EXPECT_GT(expect<Grant>(store->claim("job", claim)).time_left, kShort);
}

TEST_F(Given, AClaimIsDeadIfItsStoreDoesNotBeginToListen) {
  const auto store = open_store(server_.port());
  Claim claim = wish();
  claim.waits = true;
  EXPECT_TRUE(expect<Busy>(store->claim("job", claim)).pending);
  const std::string member = first_in_queue();
  set_joined(member, kInTheFuture);
  const Claimant next(server_.port());
  set_joined(member, kLongAgo);
  release("job", first_.id);
  EXPECT_EQ(holder(), next.claim.id);
}

TEST_F(Given, AStoreThatMayNotListenIsGivenNothing) {
  run({"ACL", "SETUSER", "deaf", "on", ">word", "~*", "+@all", "resetchannels"});
  const auto deaf = base::value_or_throw(engines::redis::open_store(
      {.host = "127.0.0.1", .port = server_.port(), .user = "deaf", .password = "word"}));
  const auto watch = base::value_or_throw(deaf->watch("job", [](const auto&) {}));
  Claim claim = wish();
  claim.waits = true;
  EXPECT_FALSE(expect<Busy>(deaf->claim("job", claim)).pending);
  release("job", first_.id);
  EXPECT_EQ(holder(), LeaseId());
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
  const std::uint64_t ahead = granted_.token.value() + std::uint64_t{24 * 3600} * 1'000'000;
  change_note(Field::token, std::to_string(ahead));
  EXPECT_EQ(release("job", first_.id), ReleaseOutcome::released);
  EXPECT_TRUE(waiting.is_told());
  EXPECT_EQ(expect<Grant>(waiting.ask()).token, base::FencingToken(ahead + 1));
}

TEST_F(Given, ATokenMoreThanAYearAheadOfTheServersClockIsCorrupt) {
  Claimant waiting(server_.port());
  const std::uint64_t ahead = granted_.token.value() + std::uint64_t{400 * 86400} * 1'000'000;
  for (const std::string& token : {std::to_string(ahead), std::string("9007199254740993"),
                                   std::string("18446744073709551615")}) {
    change_note(Field::token, token);
    EXPECT_EQ(store_->release("job", first_.id).error().code, base::ErrorCode::corrupt) << token;
    EXPECT_EQ(waiting.ask().error().code, base::ErrorCode::corrupt) << token;
  }
}

// Changed between the grant and its confirmation.
TEST_F(Given, AGrantWithATokenThatNobodyMintedIsNotConfirmed) {
  Claimant waiting(server_.port());
  release("job", first_.id);
  ASSERT_EQ(holder(), waiting.claim.id);
  const std::uint64_t ahead = granted_.token.value() + std::uint64_t{400 * 86400} * 1'000'000;
  for (const std::string& token : {std::to_string(ahead), std::string("9007199254740993"),
                                   std::string("18446744073709551615")}) {
    change_note(Field::token, token);
    const auto asked = waiting.ask();
    ASSERT_FALSE(asked) << token;
    EXPECT_EQ(asked.error().code, base::ErrorCode::corrupt) << token;
  }
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

TEST_F(Given, WhereTheNoteIsLostOneWaiterIsNotified) {
  Claimant waiting(server_.port());
  run({"DEL", "hf:{job}"});
  EXPECT_EQ(release("job", first_.id), ReleaseOutcome::released);
  EXPECT_TRUE(waiting.is_told());
  EXPECT_EQ(holder(), LeaseId());
  expect<Grant>(waiting.ask());
}

TEST_F(Given, AWaiterThatCannotBeNotifiedIsGrantedNothing) {
  run({"ACL", "SETUSER", "mute", "on", ">word", "~*", "+@all", "resetchannels"});
  const auto mute = base::value_or_throw(engines::redis::open_store(
      {.host = "127.0.0.1", .port = server_.port(), .user = "mute", .password = "word"}));
  const Claimant waiting(server_.port());
  EXPECT_EQ(mute->release("job", first_.id), ReleaseOutcome::released);
  EXPECT_EQ(holder(), LeaseId());
}

TEST_F(Given, NothingIsTakenFromAForeignHolder) {
  release("job", first_.id);
  run({"SET", "job", "foreign", "NX", "PX", "600000"});
  Claimant waiting(server_.port());
  forge_grant(waiting);
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
