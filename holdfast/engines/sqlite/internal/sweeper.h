#pragma once

#include <cstddef>
#include <cstdint>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/sqlite/internal/connection.h>
#include <holdfast/engines/sqlite/internal/records.h>
#include <holdfast/engines/sqlite/internal/statement.h>

namespace holdfast::engines::sqlite::internal {

// Forgets tombstones, a few rows at a time. One thread at a time.
//
// All processes that use a file take turns at one walk through it: the file knows how far it has
// come. Two rows are visited for every change of a record, so the walk is faster than rows are
// added. A row that cannot be read is left alone. The file is at most about twice as large as what
// is in it.
class Sweeper {
 public:
  Sweeper(Connection& connection, Records& records) noexcept;

  // Returns whether to do a step now. Call it after every change.
  [[nodiscard]] bool is_due() noexcept;

  struct Step {
    std::size_t forgotten = 0;
    bool at_end = false;  // the walk begins again with the next step
  };
  // Forgets rows that have not been in use since `unused_since`. Within a transaction.
  [[nodiscard]] base::Result<Step> step(base::TimePoint unused_since);

 private:
  // Gives pages back to the file system while more of the file is free than in use.
  [[nodiscard]] base::Result<void> shrink();

  Connection& connection_;
  Records& records_;
  Statement next_;
  Statement swept_;
  Statement free_pages_;
  Statement pages_;
  std::uint64_t changes_until_due_;
};

}  // namespace holdfast::engines::sqlite::internal
