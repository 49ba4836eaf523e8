#include <cstdlib>
#include <filesystem>
#include <string>

#include <tests/support/temporary_folder.h>

#include "bench/locks/child.h"
#include "bench/locks/workloads.h"

namespace holdfast::bench_locks {

Report run_true(Seconds time) {
  const tests::TemporaryFolder folder;
  const std::string store = "sqlite:" + (folder / "locks.db").string();
  const std::string file = (folder / "flock").string();
  const std::string tool =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("holdfast");
  const auto medians = alternate(
      time, {[&] { run_command({tool, "run", "--store", store, "job", "--", "true"}); },
             [&] { run_command({"flock", file, "true"}); }, [&] { run_command({"true"}); }});
  const double ratio = medians[0] / medians[1];
  return {.workload = "L3",
          .about = "`true` under a lock, as a whole process",
          .rows = {{"holdfast run NAME -- true", medians[0] * 1e3, "ms"},
                   {"flock FILE true", medians[1] * 1e3, "ms"},
                   {"true", medians[2] * 1e3, "ms"},
                   {"ratio to flock", ratio, "x"}},
          .targets = {{"at most 2 times flock", ratio <= 2.0}}};
}

}  // namespace holdfast::bench_locks
