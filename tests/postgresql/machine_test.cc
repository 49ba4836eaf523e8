// A server whose machine has a full disk, or another clock.

#include <chrono>
#include <optional>
#include <string>

#include <tests/postgresql/postgres_test.h>
#include <tests/support/altered_machine.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::Lock;
using locks::LockProvider;
using store::Busy;
using store::Claim;
using store::Grant;
using store::Permits;
using store::ReleaseOutcome;

class Machine : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<store::LeaseStore> new_store() const {
    return opened({.conninfo = server_.url(), .connect_timeout = kPatientConnect});
  }

  const AlteredMachine machine_;
  const PostgresServer server_{
      {.arguments = {"-c", "fsync=off"}, .environment = machine_.environment()}};
};

TEST_F(Machine, AFullDiskRefusesNewNamesAndServesThoseThatHaveARow) {
  const auto store = new_store();
  const Claim held = wish();
  expect<Grant>(store->claim("held", held));
  machine_.fill_disk();
  std::optional<base::Error> refusal;
  std::string refused;
  for (int i = 0; !refusal && i < 100'000; ++i) {
    refused = "name " + std::to_string(i);
    const auto claimed = store->claim(refused, wish());
    if (!claimed) refusal = claimed.error();
  }
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, ErrorCode::unavailable);
  EXPECT_NE(refusal->message.find("the server has no room"), std::string::npos) << refusal->message;
  EXPECT_FALSE(base::value_or_throw(store->look(refused)));

  const store::Renewal renewal{.name = "held", .id = held.id, .ttl = 20min};
  EXPECT_EQ(base::value_or_throw(store->renew({&renewal, 1})).at(0), store::RenewOutcome::renewed);
  EXPECT_EQ(base::value_or_throw(store->release("held", held.id)), ReleaseOutcome::released);
  expect<Grant>(store->claim("held", wish()));

  machine_.free_disk();
  expect<Grant>(store->claim(refused, wish()));
}

TEST_F(Machine, AClockThatIsSetForwardEndsLeasesAndTokensGrow) {
  LockProvider first(new_store());
  LockProvider second(new_store());
  const Lock lost = first.acquire("job", {.ttl = 2min});
  machine_.set_clock_off_by(1h);
  const Lock next = second.acquire("job", {.ttl = 2min, .wait = kPatience});
  EXPECT_GT(next.token(), lost.token());
  // The holder learns of it when it renews, or at the latest by its own clock.
  const auto renewed = first.renew("job", lost.id(), 2min);
  EXPECT_EQ(base::value_or_throw(renewed), store::RenewOutcome::lost);
}

TEST_F(Machine, AClockThatIsSetBackLocksNobodyOutOfAFreeName) {
  const auto store = new_store();
  const Claim mutex = wish();
  const Claim permit = wish(Permits::of(1, 3));
  const base::FencingToken token = expect<Grant>(store->claim("mutex", mutex)).token;
  const base::FencingToken permit_token = expect<Grant>(store->claim("permits", permit)).token;
  for (const auto& [name, id] : {std::pair("mutex", mutex.id), std::pair("permits", permit.id)}) {
    EXPECT_EQ(base::value_or_throw(store->release(name, id)), ReleaseOutcome::released);
  }
  machine_.set_clock_off_by(-24h);
  EXPECT_FALSE(base::value_or_throw(store->look("mutex")));
  EXPECT_TRUE(base::value_or_throw(store->list("")).names.empty());
  EXPECT_GT(expect<Grant>(store->claim("mutex", wish())).token, token);
  EXPECT_GT(expect<Grant>(store->claim("permits", wish(Permits::of(1, 3)))).token, permit_token);
  expect<Grant>(store->claim("new", wish()));
}

TEST_F(Machine, AReleaseAfterTheClockWasSetBackServesTheWaiter) {
  LockProvider here(new_store());
  LockProvider there(new_store());
  Lock lock = here.acquire("job");
  machine_.set_clock_off_by(-24h);
  std::jthread waiter([&] { const Lock mine = there.acquire("job", {.wait = kPatience}); });
  PostgresClient client(server_.conninfo());
  ASSERT_TRUE(eventually([&] { return client.ask("SELECT count(*) FROM holdfast.queue") == "1"; }));
  EXPECT_EQ(base::value_or_throw(lock.release()), ReleaseOutcome::released);
}

TEST_F(Machine, ALeaseThatWasGrantedBeforeTheClockWasSetBackStaysHeldAndIsReleased) {
  const auto store = new_store();
  const Claim claim = wish();
  expect<Grant>(store->claim("job", claim));
  machine_.set_clock_off_by(-24h);
  expect<Busy>(store->claim("job", wish()));
  EXPECT_EQ(base::value_or_throw(store->release("job", claim.id)), ReleaseOutcome::released);
  expect<Grant>(store->claim("job", wish()));
}

}  // namespace
}  // namespace holdfast::tests
