#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include <holdfast/base/ids.h>
#include <holdfast/base/printable.h>
#include <holdfast/engines/store_url.h>
#include <holdfast/locks/lock_provider.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"
#include "apps/holdfast/waiting/descriptor.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast bench",
    .usage = "[OPTIONS]",
    .about =
        "Measure acquire and release on this store, with one caller and an unused name, and for\n"
        "comparison lock and unlock of a file with flock(2).\n",
    .examples =
        "  holdfast bench\n"
        "  holdfast bench --for 10s --store sqlite:/srv/locks.db\n"
        "  holdfast bench --count 1000 --json"};

struct BenchOptions {
  GlobalOptions global{};
  std::uint64_t count = 0;  // 0: as many as fit in the time
  base::Duration time = std::chrono::seconds(2);
};

struct Row {
  std::string what;
  std::size_t count;
  double ops_per_second;
  base::Duration median;
  base::Duration p99;
};

Row summarise(std::string what, std::vector<base::Duration> times, base::Duration total) {
  std::ranges::sort(times);
  const double seconds = std::chrono::duration<double>(total).count();
  return {.what = std::move(what),
          .count = times.size(),
          .ops_per_second = static_cast<double>(times.size()) / seconds,
          .median = times[times.size() / 2],
          .p99 = times[times.size() * 99 / 100]};
}

Row measure(std::string what, const BenchOptions& options, const std::function<void()>& once) {
  const auto& clock = base::steady_clock();
  once();  // the first opens what the others find open
  std::vector<base::Duration> times;
  const base::TimePoint begin = clock.now();
  base::TimePoint now = begin;
  const auto deadline = base::Deadline::after(clock, options.time);
  do {
    once();
    const base::TimePoint before = std::exchange(now, clock.now());
    times.push_back(now - before);
  } while (options.count > 0 ? times.size() < options.count : !deadline.expired(now));
  return summarise(std::move(what), std::move(times), now - begin);
}

Row measure_store(Session& session, const BenchOptions& options) {
  locks::LockProvider provider(session.store(), {.logger = session.logger()});
  const std::string name = "holdfast/bench/" + to_string(base::LeaseId::generate());
  return measure("acquire + release", options,
                 [&] { base::value_or_throw(provider.acquire(name).release()); });
}

std::optional<Row> measure_flock(const BenchOptions& options) {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/holdfast-bench-XXXXXX";
  const Descriptor file(mkostemp(path.data(), O_CLOEXEC));
  if (file.get() < 0) {
    return std::nullopt;
  }
  unlink(path.c_str());
  return measure("flock + unlock", options, [&] {
    flock(file.get(), LOCK_EX);
    flock(file.get(), LOCK_UN);
  });
}

void print_json(const Session& session, const std::vector<Row>& rows) {
  Json all = Json::array();
  for (const Row& row : rows) {
    all.push_back({{"what", row.what},
                   {"count", row.count},
                   {"ops_per_second", row.ops_per_second},
                   {"median_ms", to_ms(row.median)},
                   {"p99_ms", to_ms(row.p99)}});
  }
  print_line({{"store", engines::without_password(session.location().url)},
              {"engine", session.store()->capabilities().engine},
              {"rows", std::move(all)}});
}

void print_text(const Session& session, const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> cells{{"", "COUNT", "PER SECOND", "MEDIAN", "P99"}};
  const auto micros = [](base::Duration value) {
    return fmt::format("{:.1f} µs", std::chrono::duration<double, std::micro>(value).count());
  };
  for (const Row& row : rows) {
    cells.push_back({row.what, std::to_string(row.count), fmt::format("{:.0f}", row.ops_per_second),
                     micros(row.median), micros(row.p99)});
  }
  print_output("{}\n{}", base::printable_message(engines::without_password(session.location().url)),
               table(cells));
}

}  // namespace

int bench(const Invocation& call) {
  BenchOptions options{.global = call.global};
  constexpr std::uint64_t kMost = 100'000'000;
  CommandLine line(kHelp);
  line.option("--count", "N", "Number of rounds, instead of a duration",
              into(options.count, 1, kMost));
  line.option("--for", "DURATION", "Duration of each row (default: 2s)", into(options.time));
  options.global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  Session session(options.global);
  if (const auto opened = session.open(Purpose::examine); !opened) {
    return session.report(opened.error());
  }
  std::vector<Row> rows{measure_store(session, options)};
  if (auto row = measure_flock(options)) {
    rows.push_back(*std::move(row));
  }
  if (session.json()) {
    print_json(session, rows);
  } else {
    print_text(session, rows);
  }
  return kSuccess;
}

}  // namespace holdfast::cli::commands
