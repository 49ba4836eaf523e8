#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <holdfast/locks/lock_provider.h>
#include <holdfast/locks/metrics.h>
#include <holdfast/metrics/name_group.h>

namespace holdfast::metrics {

struct PrometheusOptions {
  // Returns the label `group` of a lock's name: a part of the name, or a literal. Called for each
  // event, by any thread; must not throw.
  std::function<std::string_view(std::string_view name)> group = name_group;
  // The events of names in further groups are counted as "other". 1 to 10,000.
  std::size_t max_groups = 100;
  // Labels of every metric.
  std::map<std::string, std::string> labels{};
};

// A gauge of PrometheusMetrics, which it removes when it is destroyed. Move-only; it keeps the
// metrics alive. Its destructor waits for a scrape that reads the gauges.
class [[nodiscard]] Gauge {
 public:
  explicit Gauge(std::function<void()> remove) noexcept : remove_(std::move(remove)) {}
  ~Gauge() {
    if (remove_) {
      remove_();
    }
  }
  Gauge(Gauge&& other) noexcept : remove_(std::exchange(other.remove_, {})) {}
  Gauge& operator=(Gauge&& other) noexcept {
    std::swap(remove_, other.remove_);
    return *this;
  }

 private:
  std::function<void()> remove_;
};

// The events of lock providers as metrics of prometheus-cpp.
//
// Thread-safe. The hooks keep it alive. Counting takes no lock, except for the first event of a
// group. A scrape copies the figures and blocks no provider.
//
// For each counter of locks::Metrics (and of recipes::DegradableProvider) there is one metric,
// `holdfast_acquired_total{group="…"}`, and for each duration a histogram,
// `holdfast_hold_seconds{group="…"}`. Counters of the local locks of a DegradableProvider are
// `holdfast_local_acquired_total` and so on. `holdfast_last_renewal_timestamp_seconds` is the time
// of the last good renewal. The number of time series is bounded by `max_groups`, whatever names
// callers choose. Counters of other names are not exported.
//
//   auto metrics = PrometheusMetrics::make();
//   exposer.RegisterCollectable(metrics);
//   auto locks = holdfast::open("redis://localhost", {.metrics = metrics->hooks()});
//   auto gauges = metrics->watch(locks);
class PrometheusMetrics final : public prometheus::Collectable {
 public:
  static constexpr std::size_t kMostGroups = 10'000;

  // Throws base::Exception with invalid_argument for invalid options.
  [[nodiscard]] static std::shared_ptr<PrometheusMetrics> make(PrometheusOptions options = {});
  ~PrometheusMetrics() override;

  // Returns the hooks for ProviderOptions::metrics; several providers may share them.
  [[nodiscard]] locks::Metrics hooks();

  // Adds a gauge; every scrape calls `read`. Throws base::Exception with invalid_argument if the
  // name is not that of a metric. Gauges of the same name need different labels.
  [[nodiscard]] Gauge gauge(std::string name, std::string help, std::function<double()> read,
                            std::map<std::string, std::string> labels = {});
  // Adds `holdfast_locks_held` and `holdfast_waiters` of a provider, which must outlive the gauges.
  [[nodiscard]] std::vector<Gauge> watch(const locks::LockProvider& provider,
                                         const std::map<std::string, std::string>& labels = {});

  // Returns the figures of this moment.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct State;
  explicit PrometheusMetrics(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;
};

}  // namespace holdfast::metrics
