#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

// HOLDFAST_ENGINES: the folders of holdfast/engines, as the build found them.
namespace {

std::set<std::string> registered_suites() {
  std::set<std::string> suites;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    suites.insert(all.GetTestSuite(i)->name());
  }
  return suites;
}

TEST(conformance, EveryEngineRunsEverySuite) {
  std::istringstream engines(HOLDFAST_ENGINES);
  const std::set<std::string> registered = registered_suites();
  int count = 0;
  for (std::string engine; engines >> engine; ++count) {
    for (const std::string suite : {"store.",
                                    "locks.",
                                    "async.",
                                    "marker.",
                                    "async_marker.",
                                    "degradation.",
                                    "async_degradation.",
                                    "reader_writer.",
                                    "async_reader_writer.",
                                    "semaphore.",
                                    "async_semaphore.",
                                    "multi_lock.",
                                    "async_multi_lock.",
                                    "throttle.",
                                    "async_throttle.",
                                    "leader_election.",
                                    "async_leader_election.",
                                    "once.",
                                    "async_once.",
                                    "repository.",
                                    "repository_differential."}) {
      EXPECT_TRUE(registered.contains(suite + engine))
          << "tests/conformance does not run " << suite << "* against holdfast/engines/" << engine;
    }
  }
  EXPECT_GE(count, 1) << "the build found no engines";
}

}  // namespace
