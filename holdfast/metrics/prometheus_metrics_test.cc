#include <holdfast/metrics/prometheus_metrics.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <holdfast/base/error.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::metrics {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using engines::memory::MemoryStore;
using locks::Lock;
using locks::LockProvider;

// The page that a Prometheus server reads.
std::string scrape(const PrometheusMetrics& metrics) {
  return prometheus::TextSerializer().Serialize(metrics.Collect());
}

// Returns the value of a time series, such as `holdfast_lost_total{group="job"}`, if it is there.
std::optional<double> value_of(const std::string& page, const std::string& series) {
  const std::string line = "\n" + series + " ";
  const std::size_t at = page.find(line);
  if (at == std::string::npos) {
    return std::nullopt;
  }
  EXPECT_EQ(page.find(line, at + 1), std::string::npos) << series << " is there twice";
  return std::stod(page.substr(at + line.size()));
}

ErrorCode code_of(const auto& action) {
  try {
    action();
  } catch (const base::Exception& exception) {
    return exception.error().code;
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::internal;
}

class PrometheusMetricsTest : public ::testing::Test {
 protected:
  const std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  const std::shared_ptr<PrometheusMetrics> metrics_ = PrometheusMetrics::make();
  LockProvider locks_{store_, {.metrics = metrics_->hooks()}};
};

TEST_F(PrometheusMetricsTest, CountsAndMeasuresLocksByTheGroupOfTheirName) {
  for (const char* const name : {"job/a", "job/b", "deploy"}) {
    static_cast<void>(locks_.acquire(name));
  }
  const std::string page = scrape(*metrics_);
  EXPECT_EQ(value_of(page, R"(holdfast_acquired_total{group="job"})"), 2);
  EXPECT_EQ(value_of(page, R"(holdfast_released_total{group="job"})"), 2);
  EXPECT_EQ(value_of(page, R"(holdfast_acquired_total{group="deploy"})"), 1);
  EXPECT_EQ(value_of(page, R"(holdfast_lost_total{group="deploy"})"), 0);
  EXPECT_EQ(value_of(page, R"(holdfast_acquire_wait_seconds_count{group="job"})"), 2);
  EXPECT_EQ(value_of(page, R"(holdfast_hold_seconds_count{group="job"})"), 2);
  EXPECT_EQ(value_of(page, R"(holdfast_hold_seconds_bucket{group="job",le="+Inf"})"), 2);
}

TEST_F(PrometheusMetricsTest, CountsACallThatTimedOut) {
  const Lock held = locks_.acquire("job/a");
  EXPECT_FALSE(locks_.try_acquire("job/a", {.wait = 0s}).value());
  EXPECT_EQ(value_of(scrape(*metrics_), R"(holdfast_timed_out_total{group="job"})"), 1);
}

TEST_F(PrometheusMetricsTest, ALostLockIsCountedInItsGroup) {
  metrics_->hooks().count("lost", "job/a", 1);
  EXPECT_EQ(value_of(scrape(*metrics_), R"(holdfast_lost_total{group="job"})"), 1);
}

TEST_F(PrometheusMetricsTest, ALabelFromANameIsOneLineOfText) {
  static_cast<void>(locks_.acquire("a\n\"\xff/x"));
  EXPECT_EQ(value_of(scrape(*metrics_), R"(holdfast_acquired_total{group="a\\x0a\"\\xff"})"), 1);
}

TEST_F(PrometheusMetricsTest, ProvidersMayShareTheHooks) {
  LockProvider others(std::make_shared<MemoryStore>(), {.metrics = metrics_->hooks()});
  const Lock one = locks_.acquire("job/a");
  const Lock two = others.acquire("job/a");
  EXPECT_EQ(value_of(scrape(*metrics_), R"(holdfast_acquired_total{group="job"})"), 2);
}

TEST_F(PrometheusMetricsTest, TheNumberOfSeriesIsBoundedWhateverNamesCallersChoose) {
  const auto few = PrometheusMetrics::make({.max_groups = 3});
  LockProvider provider(store_, {.metrics = few->hooks()});
  for (int i = 0; i < 50; ++i) {
    static_cast<void>(provider.acquire("name " + std::to_string(i)));
  }
  const std::string page = scrape(*few);
  EXPECT_EQ(value_of(page, R"(holdfast_acquired_total{group="name 2"})"), 1);
  EXPECT_EQ(value_of(page, R"(holdfast_acquired_total{group="name 3"})"), std::nullopt);
  EXPECT_EQ(value_of(page, R"(holdfast_acquired_total{group="other"})"), 47);
}

TEST_F(PrometheusMetricsTest, AProgramMayChooseTheGroupsAndAddLabels) {
  const auto one =
      PrometheusMetrics::make({.group = [](std::string_view) { return std::string_view("all"); },
                               .labels = {{"service", "billing"}}});
  LockProvider provider(store_, {.metrics = one->hooks()});
  static_cast<void>(provider.acquire("job/a"));
  EXPECT_EQ(value_of(scrape(*one), R"(holdfast_acquired_total{service="billing",group="all"})"), 1);
}

TEST_F(PrometheusMetricsTest, TheTimeOfTheLastRenewalIsThereOnceALeaseWasRenewed) {
  EXPECT_EQ(value_of(scrape(*metrics_), "holdfast_last_renewal_timestamp_seconds"), std::nullopt);
  const std::chrono::duration<double> before = std::chrono::system_clock::now().time_since_epoch();
  metrics_->hooks().count("renewed", {}, 3);
  const auto renewed = value_of(scrape(*metrics_), "holdfast_last_renewal_timestamp_seconds");
  ASSERT_TRUE(renewed);
  EXPECT_GE(*renewed, before.count() - 1000) << "the page has six digits";
}

// Counts as a recipes::DegradableProvider does.
TEST_F(PrometheusMetricsTest, LocalLocksOfADegradedProviderHaveCountersOfTheirOwn) {
  metrics_->hooks().count("degraded_to_local", "job/a", 1);
  metrics_->hooks().count("local_acquired", "job/a", 1);
  const std::string page = scrape(*metrics_);
  EXPECT_EQ(value_of(page, R"(holdfast_degraded_to_local_total{group="job"})"), 1);
  EXPECT_EQ(value_of(page, R"(holdfast_local_acquired_total{group="job"})"), 1);
  EXPECT_EQ(value_of(page, R"(holdfast_acquired_total{group="job"})"), 0);
}

TEST_F(PrometheusMetricsTest, GaugesOfAProviderShowItsLocksAndWaiters) {
  auto gauges = metrics_->watch(locks_, {{"store", "main"}});
  const Lock held = locks_.acquire("job/a");
  EXPECT_EQ(value_of(scrape(*metrics_), R"(holdfast_locks_held{store="main"})"), 1);
  EXPECT_EQ(value_of(scrape(*metrics_), R"(holdfast_waiters{store="main"})"), 0);
  gauges.clear();
  EXPECT_EQ(value_of(scrape(*metrics_), R"(holdfast_locks_held{store="main"})"), std::nullopt);
}

TEST_F(PrometheusMetricsTest, AGaugeIsReadAtEachScrapeUntilItIsDestroyed) {
  double value = 1;
  std::optional<Gauge> gauge =
      metrics_->gauge("objects_active", "Objects in memory.", [&value] { return value; });
  EXPECT_EQ(value_of(scrape(*metrics_), "objects_active"), 1);
  value = 2;
  const Gauge moved = *std::exchange(gauge, std::nullopt);
  EXPECT_EQ(value_of(scrape(*metrics_), "objects_active"), 2);
}

TEST_F(PrometheusMetricsTest, GaugesOfOneNameAreOneFamily) {
  const auto one = metrics_->gauge("held", "Held.", [] { return 1.0; }, {{"store", "a"}});
  const auto two = metrics_->gauge("held", "Held.", [] { return 2.0; }, {{"store", "b"}});
  const std::string page = scrape(*metrics_);
  EXPECT_EQ(page.find("# TYPE held gauge"), page.rfind("# TYPE held gauge"));
  EXPECT_EQ(value_of(page, R"(held{store="a"})"), 1);
  EXPECT_EQ(value_of(page, R"(held{store="b"})"), 2);
}

TEST_F(PrometheusMetricsTest, AnEventOfAnotherNameIsNotExported) {
  const std::string before = scrape(*metrics_);
  metrics_->hooks().count("something", "job/a", 1);
  metrics_->hooks().observe("something", "job/a", 1s);
  EXPECT_EQ(scrape(*metrics_), before);
}

TEST_F(PrometheusMetricsTest, InvalidOptionsAreRejected) {
  const auto make = [](PrometheusOptions options) {
    return code_of([&] { static_cast<void>(PrometheusMetrics::make(std::move(options))); });
  };
  EXPECT_EQ(make({.group = {}}), ErrorCode::invalid_argument);
  EXPECT_EQ(make({.max_groups = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(make({.labels = {{"a b", ""}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(metrics_->gauge("a b", "", [] { return 0.0; })); }),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace holdfast::metrics
