#include <future>
#include <memory>
#include <thread>

#include <tests/mongodb/mongo_test.h>
#include <tests/support/free_port.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using store::ClaimOutcome;
using store::Grant;

using Outcome = base::Result<ClaimOutcome>;

// Claims in a thread of its own, which is left behind if the claim hangs: a test that hangs would
// stop all the others.
std::future<Outcome> claim_apart(std::shared_ptr<store::LeaseStore> store, base::Duration wait) {
  std::packaged_task<Outcome()> claim([store = std::move(store), wait] {
    return store->claim("job", wish(), base::Deadline::after(base::steady_clock(), wait));
  });
  auto outcome = claim.get_future();
  std::thread(std::move(claim)).detach();
  return outcome;
}

// The driver looks at its servers again, and holds a lock meanwhile that it must not want again
// when the server is not there (CDRIVER-4666).
TEST(Unreachable, AServerThatEndsBeforeTheDriverLooksAgainIsAnErrorAndNoDeadlock) {
  MongoServer server({.must_be_stand_in = true, .own = true});
  auto options = options_for(server);
  options.uri += "?heartbeatFrequencyMS=500";
  const std::shared_ptr<store::LeaseStore> store = store_on(std::move(options));
  expect<Grant>(store->claim("other", wish()));
  std::this_thread::sleep_for(700ms);  // now it is time for the driver to look again
  server.kill();
  auto outcome = claim_apart(store, 300ms);
  ASSERT_EQ(outcome.wait_for(kPatience), std::future_status::ready)
      << "the driver waits for itself";
  const auto claimed = outcome.get();
  ASSERT_FALSE(claimed);
  EXPECT_TRUE(claimed.error().code == ErrorCode::unavailable ||
              claimed.error().code == ErrorCode::unknown_outcome);
  server.restart();
  EXPECT_TRUE(eventually([&] { return store->claim("job", wish()).has_value(); }));
}

TEST(Unreachable, AWrongAddressIsNamedLongBeforeTheDeadline) {
  const ClosedPort closed;
  const std::string address = "127.0.0.1:" + std::to_string(closed.number());
  const std::shared_ptr<store::LeaseStore> store =
      store_on({.uri = "mongodb://" + address, .reply_timeout = 1h});
  auto outcome = claim_apart(store, 1h);
  ASSERT_EQ(outcome.wait_for(kPatience), std::future_status::ready);
  const auto claimed = outcome.get();
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(claimed.error().message.contains(address)) << claimed.error().message;
  EXPECT_TRUE(claimed.error().message.contains("Connection refused")) << claimed.error().message;
}

}  // namespace
}  // namespace holdfast::tests
