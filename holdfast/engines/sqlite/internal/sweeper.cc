#include <holdfast/engines/sqlite/internal/sweeper.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/base/random.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/sqlite/internal/sql.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using base::Result;

constexpr std::uint64_t kChangesPerStep = 64;
constexpr std::int64_t kRowsPerStep = 2 * static_cast<std::int64_t>(kChangesPerStep);

// The columns that kSweepNext has after those of kLoad.
enum Column : int { name_of_row = 9, is_stale = 10 };

Result<std::int64_t> ask(Statement& statement) {
  Statement::Use use(statement);
  const Result<bool> row = use.step();
  return row ? Result<std::int64_t>(use.integer(0)) : std::unexpected(row.error());
}

}  // namespace

Sweeper::Sweeper(Connection& connection, Records& records) noexcept
    : connection_(connection),
      records_(records),
      next_(connection, sql::kSweepNext),
      swept_(connection, sql::kSwept),
      free_pages_(connection, sql::kFreePages),
      pages_(connection, sql::kPages),
      // Programs that change little and end do their share too.
      changes_until_due_(1 + base::random_u64() % kChangesPerStep) {}

bool Sweeper::is_due() noexcept {
  if (--changes_until_due_ > 0) {
    return false;
  }
  changes_until_due_ = kChangesPerStep;
  return true;
}

Result<Sweeper::Step> Sweeper::step(base::TimePoint unused_since) {
  std::vector<std::string> stale;
  std::string last;
  std::uint64_t high_water = 0;
  std::int64_t rows = 0;
  {
    Statement::Use use(next_);
    use.bind(1, unused_since.time_since_epoch().count());
    use.bind(2, kRowsPerStep);
    Result<bool> row = use.step();
    for (; row && *row; row = use.step()) {
      ++rows;
      last = use.bytes(name_of_row);
      const Result<Loaded> loaded = records_.read(use, last);
      if (loaded && use.integer(is_stale) != 0) {
        high_water = std::max(high_water, loaded->record.last_token);
        stale.push_back(last);
      }
    }
    if (!row) {
      return std::unexpected(std::move(row).error());
    }
  }
  for (const std::string& name : stale) {
    HOLDFAST_TRY(records_.forget(name));
  }
  const bool at_end = rows < kRowsPerStep;
  {
    Statement::Use use(swept_);
    use.bind(1, at_end ? std::string_view() : std::string_view(last));
    use.bind(2, static_cast<std::int64_t>(high_water));
    HOLDFAST_TRY(use.step());
  }
  HOLDFAST_TRY(shrink());
  return Step{.forgotten = stale.size(), .at_end = at_end};
}

Result<void> Sweeper::shrink() {
  const Result<std::int64_t> free = ask(free_pages_);
  HOLDFAST_TRY_LET(const std::int64_t all, free ? ask(pages_) : free);
  return *free > all / 2 ? connection_.run(sql::kGiveBackPages) : Result<void>();
}

}  // namespace holdfast::engines::sqlite::internal
