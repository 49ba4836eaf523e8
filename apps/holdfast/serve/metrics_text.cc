#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <string_view>

#include <fmt/core.h>

#include "apps/holdfast/serve/metrics_text.h"

namespace holdfast::cli::serve {

namespace {

double seconds(base::Duration value) { return std::chrono::duration<double>(value).count(); }

double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return seconds(std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec));
}

// The second number of /proc/self/statm; zero where there is no such file.
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

class Text {
 public:
  // One metric; the values follow.
  Text& metric(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
    return *this;
  }
  Text& value(auto number, std::string_view labels = {}) {
    text_ += fmt::format("{}{} {}\n", name_, labels, number);
    return *this;
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string_view name_;
  std::string text_;
};

}  // namespace

std::string metrics_text(const Snapshot& snapshot, const Chronicle& chronicle,
                         const HttpStats& http) {
  Text text;
  text.metric("holdfast_store_up", "gauge", "1 if the last listing of the store succeeded.")
      .value(snapshot.answered && !snapshot.down ? 1 : 0);
  text.metric("holdfast_store_listing_seconds", "gauge", "Time of the last listing.")
      .value(seconds(snapshot.took));
  text.metric("holdfast_store_listings_total", "counter", "Listings, and those that failed.")
      .value(snapshot.version);
  text.metric("holdfast_store_names", "gauge", "Names that are held or waited for.")
      .value(snapshot.entries.size());
  text.metric("holdfast_store_names_held", "gauge", "Names that are held.").value(snapshot.held);
  text.metric("holdfast_store_waiters", "gauge", "Waiters of all names.").value(snapshot.waiters);
  text.metric("holdfast_store_deadlocks", "gauge", "Deadlocks between waiters.")
      .value(snapshot.deadlocks.size());
  const Totals& totals = chronicle.totals();
  text.metric("holdfast_store_leases_total", "counter", "Leases whose begin or end was seen.")
      .value(totals.acquired, "{event=\"acquired\"}")
      .value(totals.released, "{event=\"released\"}")
      .value(totals.expired, "{event=\"expired\"}")
      .value(totals.stolen, "{event=\"stolen\"}")
      .value(totals.ended, "{event=\"ended\"}");
  text.metric("holdfast_serve_history_bytes", "gauge", "Size of the history.")
      .value(chronicle.bytes());
  text.metric("holdfast_serve_connections", "gauge", "Open connections.").value(http.connections);
  text.metric("holdfast_serve_streams", "gauge", "Open streams of events.").value(http.streams);
  text.metric("holdfast_serve_connections_total", "counter", "Connections by their fate.")
      .value(http.accepted, "{fate=\"accepted\"}")
      .value(http.evicted, "{fate=\"evicted\"}")
      .value(http.timed_out, "{fate=\"timed_out\"}")
      .value(http.failed, "{fate=\"failed\"}");
  text.metric("holdfast_serve_responses_total", "counter", "Responses by the class of the status.")
      .value(http.responses_2xx, "{class=\"2xx\"}")
      .value(http.responses_3xx, "{class=\"3xx\"}")
      .value(http.responses_4xx, "{class=\"4xx\"}")
      .value(http.responses_5xx, "{class=\"5xx\"}");
  text.metric("process_cpu_seconds_total", "counter", "Processor time of this process.")
      .value(processor_seconds());
  text.metric("process_resident_memory_bytes", "gauge", "Resident memory of this process.")
      .value(resident_bytes());
  return text.take();
}

}  // namespace holdfast::cli::serve
