#pragma once

#include <cstdint>
#include <string>

#include <holdfast/base/error.h>
#include <holdfast/engines/sqlite/internal/connection.h>
#include <holdfast/engines/sqlite/internal/statement.h>
#include <holdfast/engines/sqlite/internal/transaction.h>
#include <holdfast/engines/sqlite/sqlite_options.h>

namespace holdfast::engines::sqlite::internal {

// The facts about a file besides its records: the boot of the machine to which they belong, and the
// greatest token so far.
//
// Commits need not be synced one by one (SQLite then syncs only when it copies the log into the
// file, and a power cut, but not a crash of a process, may undo the last commits), because:
//
//   leases, hits   A power cut ends the boot, and with it everything that was granted.
//   tokens         A token that was handed out and then undone must not come again, even if the
//   wall
//                  clock starts in the past, as on a board without a battery. So no token is minted
//                  above the `ceiling`, and the ceiling is synced when it is raised, by an hour of
//                  the wall clock at a time. In the next boot tokens start above it.
//   the file       The log is a sequence of whole commits: what is undone is the end of it.
class Ledger {
 public:
  Ledger(Connection& connection, Transactions& transactions, const Machine& machine) noexcept;

  // Begins a new epoch if the file was last used in another boot. Returns the current epoch.
  [[nodiscard]] base::Result<std::int64_t> enter_epoch(const std::string& boot_id);

  // Makes sure that tokens up to this one, and then some, may be minted. Syncs.
  [[nodiscard]] base::Result<void> raise_ceiling(std::uint64_t token);

  // The wall clock as a token: microseconds, at least 1.
  [[nodiscard]] std::uint64_t wall_token() const;

 private:
  struct Meta {
    std::string boot_id;
    std::int64_t epoch = 0;
    std::uint64_t ceiling = 0;
  };

  [[nodiscard]] base::Result<Meta> read();
  [[nodiscard]] base::Result<std::int64_t> begin_epoch(const std::string& boot_id);

  Connection& connection_;
  Transactions& transactions_;
  const Machine& machine_;
  Statement read_;
  Statement enter_epoch_;
  Statement empty_queues_;
  Statement empty_leases_;
  Statement raise_ceiling_;
};

// No token is greater. Reached only by a file that somebody has tampered with.
inline constexpr std::uint64_t kMaxToken = std::uint64_t{1} << 62U;

}  // namespace holdfast::engines::sqlite::internal
