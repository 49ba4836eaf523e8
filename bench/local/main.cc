#include <algorithm>

#include <fmt/format.h>

#include "bench/local/keys.h"
#include "bench/local/options.h"
#include "bench/local/progress.h"
#include "bench/local/report.h"
#include "bench/local/workload.h"

namespace holdfast::bench {

namespace {

bool is_selected(const Workload& workload, const Options& options) {
  return options.only.empty() ||
         std::ranges::find(options.only, workload.name) != options.only.end();
}

void run(const Options& options) {
  const Progress progress;
  const Keys keys = make_keys("object:", options.keys);
  const Context context{.options = options, .progress = progress, .keys = keys};
  const Judging judging = options.keys == kMillion ? Judging::on : Judging::off;

  Rows all;
  for (const Workload& workload : workloads()) {
    if (!is_selected(workload, options)) continue;
    const Rows rows = workload.run(workload, context);
    progress.clear();
    if (options.format == Format::table) print_table(workload, rows, judging);
    all.insert(all.end(), rows.begin(), rows.end());
  }

  if (options.format == Format::json) {
    print_json(all);
  } else if (judging == Judging::on) {
    print_summary(all);
  } else {
    fmt::print("targets are for a million keys: not judged\n");
  }
}

}  // namespace

}  // namespace holdfast::bench

int main(int argc, char** argv) {
  const auto options = holdfast::bench::parse_options(argc, argv);
  if (!options) return options.error();
  holdfast::bench::run(*options);
  return 0;
}
