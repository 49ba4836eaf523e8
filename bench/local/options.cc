#include <CLI/CLI.hpp>
#include <sysexits.h>

#include "bench/local/options.h"
#include "bench/local/workload.h"

namespace holdfast::bench {

namespace {

constexpr const char* kAbout =
    "The in-process locks of Holdfast, next to the usual alternatives. The contenders of a\n"
    "workload take turns over several rounds, each time in another order; the median of the\n"
    "rounds is reported.";

constexpr const char* kFooter =
    "Contenders: holdfast; tbb (oneTBB concurrent_hash_map); map (a mutex around "
    "std::unordered_map);\n"
    "libcuckoo; floor (the standard's own mutex, without keys). Time per operation is that of all\n"
    "threads together.\n"
    "\n"
    "Examples:\n"
    "  bench_local                            everything, in two to three minutes\n"
    "  bench_local --only W1,W3 --seconds 1   two workloads, measured longer\n"
    "  bench_local --json > figures.json      rows for a program";

std::string workload_help() {
  std::string text = "Only these workloads, separated by commas:";
  for (const Workload& workload : workloads()) {
    text.append("\n").append(workload.name).append(": ").append(workload.title);
  }
  return text;
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const Workload& workload : workloads()) names.emplace_back(workload.name);
  return names;
}

// Replaces a name with its proper spelling. (IsMember would do, except for its message.)
CLI::Validator known_workload() {
  return {[names = workload_names()](std::string& name) {
            for (const std::string& known : names) {
              if (CLI::detail::to_lower(known) == CLI::detail::to_lower(name)) {
                name = known;
                return std::string{};
              }
            }
            return "unknown workload " + name + "; there are " + CLI::detail::join(names, ", ");
          },
          ""};
}

}  // namespace

std::expected<Options, int> parse_options(int argc, const char* const* argv) {
  Options options;
  bool json = false;
  double seconds = options.seconds.count();

  CLI::App app{kAbout, "bench_local"};
  app.footer(kFooter);
  app.add_flag("--json", json, "Print an array of rows instead of tables");
  app.add_option("--only", options.only, workload_help())
      ->delimiter(',')
      ->transform(known_workload())
      ->type_name("NAME");
  app.add_option("--seconds", seconds, "How long one contender runs in one round")
      ->check(CLI::Range(0.001, 3'600.0))
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "How many times each contender has its turn")
      ->check(CLI::Range(1, 1'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--keys", options.keys, "How many keys there are; targets are for a million")
      ->check(CLI::Range(1'000, static_cast<int>(kMillion)))
      ->type_name("N")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return std::unexpected(app.exit(error) == 0 ? EX_OK : EX_USAGE);
  }
  options.format = json ? Format::json : Format::table;
  options.seconds = Seconds{seconds};
  return options;
}

}  // namespace holdfast::bench
