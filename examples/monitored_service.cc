// Metrics for Prometheus: a service whose locks can be watched at http://ADDRESS/metrics.
//
//   monitored_service                  checks itself and ends
//   monitored_service 127.0.0.1:9464   works and serves its metrics until its input ends
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <prometheus/exposer.h>
#include <prometheus/text_serializer.h>

#include <holdfast/holdfast.h>
#include <holdfast/metrics/prometheus_metrics.h>

using namespace std::chrono_literals;
using holdfast::metrics::PrometheusMetrics;

namespace {

// Works under one lock again and again, as several workers of a service do.
void work(holdfast::LockProvider& locks, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto lock = locks.try_acquire("report/daily", {.wait = 1s, .stop = stop});
    if (lock && *lock) {
      std::this_thread::sleep_for(5ms);
    }
  }
}

void serve(const std::string& address, const std::shared_ptr<PrometheusMetrics>& metrics) {
  prometheus::Exposer exposer(address);
  exposer.RegisterCollectable(metrics);
  std::cout << "metrics on port " << exposer.GetListeningPorts().front() << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
  }
}

bool check(holdfast::LockProvider& locks, const PrometheusMetrics& metrics) {
  static_cast<void>(locks.acquire("invoice/42"));
  const std::string page = prometheus::TextSerializer().Serialize(metrics.Collect());
  return page.find("holdfast_acquired_total{group=\"invoice\"} 1\n") != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  const auto metrics = PrometheusMetrics::make();
  auto locks = holdfast::open("memory:", {.metrics = metrics->hooks()});
  const auto gauges = metrics->watch(locks);

  std::vector<std::jthread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([&](const std::stop_token& stop) { work(locks, stop); });
  }
  if (argc > 1) {
    serve(argv[1], metrics);
    return EXIT_SUCCESS;
  }
  if (!check(locks, *metrics)) {
    std::cerr << "the lock of invoice/42 was not counted\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
