#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/scale/row.h"

namespace holdfast::bench_scale {

namespace {

// Returns the size of the file, its journal included, after names were acquired and released.
Measured churn(std::size_t locks, std::size_t names) {
  const tests::TemporaryFolder folder;
  const std::filesystem::path file = folder / "locks.db";
  {
    locks::LockProvider provider(
        base::value_or_throw(engines::open_store("sqlite:" + file.string())));
    for (std::size_t i = 0; i < locks; ++i) {
      base::value_or_throw(provider.acquire(fmt::format("job/{}", i % names)).release());
    }
  }
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    bytes += entry.file_size();
  }
  return {.value = static_cast<double>(bytes) / 1024};
}

Measured same_names(Context& /*context*/, std::size_t size) { return churn(size, 100); }
Measured new_names(Context& /*context*/, std::size_t size) { return churn(size, size); }

}  // namespace

std::vector<Row> file_rows() {
  return {{.name = "sqlite-file",
           .about = "SQLite: the file after locks of the same 100 names",
           .size = "locks",
           .unit = "KiB",
           .sizes = {1'000, 10'000, 100'000},
           .quick_sizes = {10, 100},
           .measure = same_names},
          {.name = "sqlite-file-names",
           .about = "SQLite: the file after locks of ever new names",
           .size = "names",
           .unit = "KiB",
           .sizes = {1'000, 10'000, 100'000},
           .quick_sizes = {10, 100},
           .measure = new_names}};
}

}  // namespace holdfast::bench_scale
