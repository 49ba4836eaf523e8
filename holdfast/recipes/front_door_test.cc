#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/log.h>
#include <holdfast/engines/disabled_store.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/recipes/degradable_provider.h>
#include <holdfast/recipes/leader_election.h>
#include <holdfast/recipes/marker.h>
#include <holdfast/recipes/multi_lock.h>
#include <holdfast/recipes/options_for.h>
#include <holdfast/recipes/semaphore.h>
#include <holdfast/recipes/throttle.h>

namespace holdfast::recipes {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;

class FrontDoor : public testing::Test {
 protected:
  std::shared_ptr<store::LeaseStore> store_ = std::make_shared<engines::memory::MemoryStore>();
  locks::LockProvider provider_{store_, {.owner = "root@web1:811", .prefix = "app/"}};
};

TEST_F(FrontDoor, ASemaphoreTakesOptionsWithoutANumberOfPermits) {
  Semaphore gpus(provider_, "gpus", 2);
  const locks::Lock one = gpus.acquire({.wait = 0s});
  const auto two = gpus.try_acquire({.reason = "test"});
  ASSERT_TRUE(two && *two);
  EXPECT_EQ((*two)->permits().count, 1U);
  EXPECT_EQ(gpus.available(), 0U);
}

TEST_F(FrontDoor, AMarkerAndAThrottleUseTheStoreOfAProvider) {
  Marker marker(provider_);
  ASSERT_TRUE(marker.mark("file", 1h));
  EXPECT_TRUE(store_->look("app/mark/file")->has_value());
  Throttle calls(provider_, {.limit = 1, .period = 1h});
  EXPECT_EQ(calls.try_pass("api"), true);
  EXPECT_EQ(calls.try_pass("api"), false);
  EXPECT_EQ(calls.reset("api"), 1U);
  EXPECT_EQ(calls.try_pass("api"), true);
}

TEST_F(FrontDoor, ATermOfAnElectionSaysSoUnlessItsCandidateGivesAReason) {
  LeaderElection election(provider_, "post");
  const auto reason = [&] { return store_->look("app/post")->value().holders.at(0).reason; };
  {
    const auto term = election.campaign();
    EXPECT_EQ(reason(), kLeads);
  }
  const auto term = election.campaign({.reason = "sends the mail"});
  EXPECT_EQ(reason(), "sends the mail");
}

TEST_F(FrontDoor, AMarkerMayOutliveItsProvider) {
  auto provider = std::make_unique<locks::LockProvider>(store_);
  Marker marker(*provider);
  provider.reset();
  EXPECT_TRUE(marker.mark("file", 1h));
}

TEST_F(FrontDoor, ATimeOutOfSeveralNamesSaysWhichOneWasMissingAndWhoHoldsIt) {
  const locks::Lock held = provider_.acquire("b");
  try {
    const MultiLock both = acquire_all(provider_, {"a", "b"}, {.wait = 0s});
    FAIL() << "acquired twice";
  } catch (const base::Exception& late) {
    EXPECT_STREQ(late.what(),
                 "timed_out: b was not free within the wait: it is held by root@web1:811");
  }
  EXPECT_TRUE(provider_.try_acquire("a")->has_value()) << "all or none";
}

TEST_F(FrontDoor, ATimeOutOfADegradableProviderNamesTheHolderInTheStoreAndInTheProcess) {
  const locks::Lock held =
      locks::LockProvider(store_, {.owner = "root@web1:811"}).acquire("report");
  DegradableProvider provider(store_, {.when_unavailable = WhenUnavailable::fall_back_to_local,
                                       .provider = {.owner = "me@web2:5"}});
  const auto message = [&](std::string_view name) -> std::string {
    try {
      const DegradableLock lock = provider.acquire(name, {.wait = 0s});
    } catch (const base::Exception& late) {
      return late.what();
    }
    return "acquired";
  };
  EXPECT_EQ(message("report"),
            "timed_out: report was not free within the wait: it is held by root@web1:811");
  const DegradableLock ours = provider.acquire("invoice");
  EXPECT_EQ(message("invoice"),
            "timed_out: invoice was not free within the wait: it is held by me@web2:5");
}

TEST_F(FrontDoor, AReleasedMultiLockHoldsNothing) {
  MultiLock both = acquire_all(provider_, {"a", "b"});
  EXPECT_TRUE(both);
  EXPECT_EQ(both.release(), store::ReleaseOutcome::released);
  EXPECT_FALSE(both);
}

TEST(DisabledStore, ADegradableProviderFollowsItsPolicyAtOnce) {
  const auto store = std::make_shared<engines::DisabledStore>();
  DegradableProvider strict(store);
  EXPECT_EQ(strict.try_acquire("report").error().code, ErrorCode::unavailable);
  DegradableProvider local(store, {.when_unavailable = WhenUnavailable::fall_back_to_local});
  const auto here = local.try_acquire("report");
  ASSERT_TRUE(here && *here);
  EXPECT_EQ((*here)->protection(), Protection::local_only);
  EXPECT_FALSE(local.try_acquire("report")->has_value());
}

TEST(DisabledStore, AMarkerFailsOrProceedsByItsPolicy) {
  const auto store = std::make_shared<engines::DisabledStore>();
  Marker strict(store);
  EXPECT_EQ(strict.mark("file", 1h).error().code, ErrorCode::unavailable);
  EXPECT_EQ(strict.is_marked("file").error().code, ErrorCode::unavailable);

  std::vector<std::string> warnings;
  Marker lenient(store, {.logger = base::Logger([&](base::LogLevel, std::string_view text) {
                           warnings.emplace_back(text);
                         }),
                         .when_unavailable = MarkWhenUnavailable::proceed_unmarked});
  EXPECT_TRUE(lenient.mark("file", 1h));
  EXPECT_EQ(lenient.is_marked("file"), false);
  const auto mine = lenient.try_mark("file", 1h);
  ASSERT_TRUE(mine && *mine);
  EXPECT_FALSE((*mine)->holds());
  EXPECT_EQ(lenient.clear("file"), ClearOutcome::was_not_marked);
  ASSERT_EQ(warnings.size(), 4U);
  EXPECT_TRUE(warnings[0].starts_with("proceeding without the mark file: unavailable: "));
  EXPECT_EQ(lenient.mark("", 1h).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace holdfast::recipes
