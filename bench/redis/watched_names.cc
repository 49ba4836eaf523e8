#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <tests/support/spawn.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/store/lease_store.h>

#include "bench/redis/bare_client.h"
#include "bench/redis/workloads.h"

namespace holdfast::bench_redis {

namespace {

// `holdfast serve` on a free port; it ends with this object.
class Server {
 public:
  explicit Server(const std::string& url)
      : program_(tests::spawn_piped(
            {HOLDFAST_TOOL, "serve", "--store", url, "--listen", "127.0.0.1:0"})) {
    std::array<char, 512> line{};
    if (read(program_.output, line.data(), line.size()) <= 0) {
      throw std::runtime_error("holdfast serve does not start");
    }
  }
  ~Server() {
    tests::kill_and_wait(program_.process);
    close(program_.input);
    close(program_.output);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] Seconds cpu_time() const {
    std::ifstream file(fmt::format("/proc/{}/stat", program_.process));
    std::string skipped;
    double user = 0;
    double system = 0;
    for (int i = 1; i < 14; ++i) {
      file >> skipped;
    }
    file >> user >> system;
    return Seconds((user + system) / static_cast<double>(sysconf(_SC_CLK_TCK)));
  }

 private:
  const tests::PipedProcess program_;
};

}  // namespace

Report watched_names(const Context& context) {
  // Several listings: with 10,000 names there is one every 5 seconds.
  const Seconds time = 10 * context.settings.seconds;
  const std::size_t count = context.settings.leases;
  const auto store = base::value_or_throw(engines::open_store(context.server.url()));
  BareClient observer(context.server.port());
  for (std::size_t i = 0; i < count; ++i) {
    base::value_or_throw(
        store->claim(fmt::format("watched:{}", i), {.id = base::LeaseId::generate(),
                                                    .owner = fmt::format("owner@host:{}", i),
                                                    .reason = "a lease that is watched",
                                                    .ttl = std::chrono::hours(1)}));
  }
  const Server server(context.server.url());
  std::this_thread::sleep_for(time / 10);  // the first listing
  const Seconds cpu_before = server.cpu_time();
  const double load_before = observer.listing_microseconds();
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(time);
  const Seconds wall = std::chrono::steady_clock::now() - begin;
  const double cpu = 100 * (server.cpu_time() - cpu_before) / wall;
  const double load = (observer.listing_microseconds() - load_before) / 1e4 / wall.count();
  return {
      .workload = "M6",
      .about = fmt::format("holdfast serve watches {} names for {:.1f} s", count, wall.count()),
      .rows = {{"holdfast serve", cpu, "% of a core"},
               {"Redis, by INFO commandstats", load, "% of a core"}},
      .targets = {{"at most 5 % of a core", cpu <= 5}, {"at most 1 % load on Redis", load <= 1}}};
}

}  // namespace holdfast::bench_redis
