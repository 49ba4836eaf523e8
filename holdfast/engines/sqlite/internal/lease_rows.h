#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/engines/sqlite/internal/connection.h>
#include <holdfast/engines/sqlite/internal/statement.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/record.h>

namespace holdfast::engines::sqlite::internal {

// The leases of a name that an operation needs.
struct NeededLeases {
  std::span<const base::LeaseId> ids{};
  // A renewal removes no leases that have ended.
  enum class Ended : std::uint8_t { needed, not_needed } ended = Ended::needed;
  // The permits of a claim that may be refused; none for other operations.
  store::Permits wanted{.count = 0, .capacity = 0};
};

// The table `leases`: a row for each lease of a name with a capacity of more than one, so that an
// operation reads and writes few of them, however many hold the name. One thread at a time, within
// a transaction.
//
// The rows of leases. A row that is read moves from `leases.rest()` of the record to its leases.
// Rows that this library would not write are ErrorCode::corrupt.
class LeaseRows {
 public:
  explicit LeaseRows(Connection& connection) noexcept;

  [[nodiscard]] base::Result<void> read(std::string_view name, const NeededLeases& needed,
                                        base::TimePoint now, store::Record& record);
  // Reads all, in the order in which they were granted.
  [[nodiscard]] base::Result<void> read_all(std::string_view name, store::Record& record);

  // Writes what differs between the leases that were read and what has become of them.
  [[nodiscard]] base::Result<void> write(std::string_view name, const store::Leases& before,
                                         const store::Leases& after);
  [[nodiscard]] base::Result<void> drop(std::string_view name);
  // Returns when the last lease ends; the least time if there is none.
  [[nodiscard]] base::Result<base::TimePoint> last_expiry(std::string_view name);

 private:
  [[nodiscard]] base::Result<void> read_rows(Statement::Use& use, store::Record& record);
  [[nodiscard]] base::Result<void> read_some(Statement& statement, std::string_view name,
                                             base::TimePoint now, std::size_t most,
                                             store::Record& record);
  [[nodiscard]] base::Result<void> put(std::string_view name, const store::StoredLease& lease);
  [[nodiscard]] base::Result<void> drop(std::string_view name, const base::LeaseId& id);

  Statement find_;
  Statement all_;
  Statement ended_;
  Statement first_to_end_;
  Statement last_to_end_;
  Statement last_expiry_;
  Statement put_;
  Statement drop_;
  Statement drop_all_;
};

}  // namespace holdfast::engines::sqlite::internal
