#include <holdfast/metrics/prometheus_metrics.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <list>
#include <utility>

#include <prometheus/check_names.h>
#include <prometheus/client_metric.h>
#include <prometheus/metric_type.h>

#include <holdfast/base/error.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/printable.h>
#include <holdfast/metrics/internal/events.h>
#include <holdfast/metrics/internal/group_table.h>
#include <holdfast/metrics/internal/histogram.h>

namespace holdfast::metrics {

namespace {

using base::ErrorCode;
using internal::Group;
using internal::GroupTable;
using internal::Histogram;
using internal::kCounters;
using internal::kDurations;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

using Labels = std::vector<ClientMetric::Label>;

constexpr std::string_view kLocal = "local_";

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Labels labels_of(const std::map<std::string, std::string>& labels) {
  Labels result;
  for (const auto& [name, value] : labels) {
    if (!prometheus::CheckLabelName(name)) {
      base::throw_error({ErrorCode::invalid_argument,
                         "'" + base::printable(name) + "' is not a name of a Prometheus label"});
    }
    result.push_back({name, base::printable(value)});
  }
  return result;
}

ClientMetric::Histogram snapshot(const Histogram& histogram) {
  ClientMetric::Histogram result;
  for (std::size_t i = 0; i <= Histogram::kBounds.size(); ++i) {
    result.sample_count += histogram.count(i);
    const bool is_last = i == Histogram::kBounds.size();
    const double bound = is_last ? std::numeric_limits<double>::infinity()
                                 : std::chrono::duration<double>(Histogram::kBounds[i]).count();
    result.bucket.push_back({result.sample_count, bound});
  }
  result.sample_sum = histogram.sum().count();
  return result;
}

// A gauge that a caller has added.
struct Reading {
  std::string name;
  std::string help;
  std::function<double()> read;
  Labels labels;
};

}  // namespace

struct PrometheusMetrics::State {
  State(PrometheusOptions its_options, Labels its_labels)
      : options(std::move(its_options)),
        labels(std::move(its_labels)),
        groups(options.max_groups),
        local_groups(options.max_groups) {}

  void count(std::string_view counter, std::string_view name, std::uint64_t by) {
    const bool is_local = counter.starts_with(kLocal);
    const auto index = internal::index_of(kCounters, counter.substr(is_local ? kLocal.size() : 0));
    if (!index) {
      return;
    }
    GroupTable& table = is_local ? local_groups : groups;
    table.at(options.group(name)).counters[*index].fetch_add(by, std::memory_order_relaxed);
    if (counter == "renewed" && by > 0) {
      last_renewal.store(unix_seconds(), std::memory_order_relaxed);
    }
  }

  void observe(std::string_view duration, std::string_view name, std::chrono::nanoseconds value) {
    if (const auto index = internal::index_of(kDurations, duration)) {
      groups.at(options.group(name)).durations[*index].add(value);
    }
  }

  [[nodiscard]] Labels with_group(const Group& group) const {
    Labels all = labels;
    all.push_back({"group", base::printable(group.label)});
    return all;
  }

  void add_counters(std::string_view prefix, const GroupTable& table,
                    std::vector<MetricFamily>& families) const;
  void add_histograms(std::vector<MetricFamily>& families) const;
  void add_last_renewal(std::vector<MetricFamily>& families) const;
  void add_gauges(std::vector<MetricFamily>& families);

  const PrometheusOptions options;
  const Labels labels;
  GroupTable groups;
  GroupTable local_groups;  // of the local locks of a DegradableProvider
  std::atomic<double> last_renewal = 0;

  base::Mutex mutex;
  std::list<Reading> gauges HOLDFAST_GUARDED_BY(mutex);
};

void PrometheusMetrics::State::add_counters(std::string_view prefix, const GroupTable& table,
                                            std::vector<MetricFamily>& families) const {
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    MetricFamily family{
        .name = "holdfast_" + std::string(prefix) + std::string(kCounters[i].name) + "_total",
        .help = std::string(kCounters[i].help),
        .type = MetricType::Counter,
        .metric = {}};
    table.for_each([&](const Group& group) {
      ClientMetric metric;
      metric.label = with_group(group);
      metric.counter.value = static_cast<double>(group.counters[i].load(std::memory_order_relaxed));
      family.metric.push_back(std::move(metric));
    });
    families.push_back(std::move(family));
  }
}

void PrometheusMetrics::State::add_histograms(std::vector<MetricFamily>& families) const {
  for (std::size_t i = 0; i < kDurations.size(); ++i) {
    MetricFamily family{.name = "holdfast_" + std::string(kDurations[i].name) + "_seconds",
                        .help = std::string(kDurations[i].help),
                        .type = MetricType::Histogram,
                        .metric = {}};
    groups.for_each([&](const Group& group) {
      ClientMetric metric;
      metric.label = with_group(group);
      metric.histogram = snapshot(group.durations[i]);
      family.metric.push_back(std::move(metric));
    });
    families.push_back(std::move(family));
  }
}

void PrometheusMetrics::State::add_last_renewal(std::vector<MetricFamily>& families) const {
  const double when = last_renewal.load(std::memory_order_relaxed);
  if (when == 0) {
    return;
  }
  ClientMetric metric;
  metric.label = labels;
  metric.gauge.value = when;
  families.push_back({.name = "holdfast_last_renewal_timestamp_seconds",
                      .help = "When a lease was last renewed, in seconds since 1970.",
                      .type = MetricType::Gauge,
                      .metric = {std::move(metric)}});
}

// Gauges of one name become one family, in the order in which the names were first added.
void PrometheusMetrics::State::add_gauges(std::vector<MetricFamily>& families) {
  const base::MutexLock lock(mutex);
  const std::size_t first = families.size();
  for (const Reading& gauge : gauges) {
    auto family =
        std::find_if(families.begin() + static_cast<std::ptrdiff_t>(first), families.end(),
                     [&](const auto& other) { return other.name == gauge.name; });
    if (family == families.end()) {
      families.push_back(
          {.name = gauge.name, .help = gauge.help, .type = MetricType::Gauge, .metric = {}});
      family = families.end() - 1;
    }
    ClientMetric metric;
    metric.label = gauge.labels;
    metric.gauge.value = gauge.read();
    family->metric.push_back(std::move(metric));
  }
}

PrometheusMetrics::PrometheusMetrics(std::shared_ptr<State> state) : state_(std::move(state)) {}

std::shared_ptr<PrometheusMetrics> PrometheusMetrics::make(PrometheusOptions options) {
  if (!options.group) {
    base::throw_error({ErrorCode::invalid_argument, "PrometheusOptions::group is empty"});
  }
  if (options.max_groups < 1 || options.max_groups > kMostGroups) {
    base::throw_error({ErrorCode::invalid_argument, "PrometheusOptions::max_groups must be 1 to " +
                                                        std::to_string(kMostGroups)});
  }
  Labels labels = labels_of(options.labels);
  auto state = std::make_shared<State>(std::move(options), std::move(labels));
  return std::shared_ptr<PrometheusMetrics>(new PrometheusMetrics(std::move(state)));
}

PrometheusMetrics::~PrometheusMetrics() = default;

locks::Metrics PrometheusMetrics::hooks() {
  return {
      .count = [state = state_](std::string_view counter, std::string_view name,
                                std::uint64_t by) { state->count(counter, name, by); },
      .observe = [state = state_](
                     std::string_view duration, std::string_view name,
                     std::chrono::nanoseconds value) { state->observe(duration, name, value); }};
}

Gauge PrometheusMetrics::gauge(std::string name, std::string help, std::function<double()> read,
                               std::map<std::string, std::string> labels) {
  if (!prometheus::CheckMetricName(name)) {
    base::throw_error({ErrorCode::invalid_argument,
                       "'" + base::printable(name) + "' is not a name of a Prometheus metric"});
  }
  labels.insert(state_->options.labels.begin(), state_->options.labels.end());
  Labels all = labels_of(labels);
  const base::MutexLock lock(state_->mutex);
  const auto entry = state_->gauges.insert(state_->gauges.end(), {.name = std::move(name),
                                                                  .help = std::move(help),
                                                                  .read = std::move(read),
                                                                  .labels = std::move(all)});
  return Gauge([state = state_, entry] {
    const base::MutexLock guard(state->mutex);
    state->gauges.erase(entry);
  });
}

std::vector<Gauge> PrometheusMetrics::watch(const locks::LockProvider& provider,
                                            const std::map<std::string, std::string>& labels) {
  std::vector<Gauge> gauges;
  gauges.push_back(gauge(
      "holdfast_locks_held", "Locks that are held.",
      [&provider] { return static_cast<double>(provider.held()); }, labels));
  gauges.push_back(gauge(
      "holdfast_waiters", "Callers that wait for a lock.",
      [&provider] { return static_cast<double>(provider.waiting()); }, labels));
  return gauges;
}

std::vector<MetricFamily> PrometheusMetrics::Collect() const {
  std::vector<MetricFamily> families;
  state_->add_counters("", state_->groups, families);
  state_->add_counters(kLocal, state_->local_groups, families);
  state_->add_histograms(families);
  state_->add_last_renewal(families);
  state_->add_gauges(families);
  return families;
}

}  // namespace holdfast::metrics
