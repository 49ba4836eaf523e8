#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/sqlite/internal/connection.h>
#include <holdfast/engines/sqlite/internal/lease_rows.h>
#include <holdfast/engines/sqlite/internal/statement.h>
#include <holdfast/store/record.h>

namespace holdfast::engines::sqlite::internal {

// A record as it was read, and what was known of tokens at that moment.
struct Loaded {
  store::Record record;
  std::uint64_t high_water = 0;
  std::uint64_t ceiling = 0;
  bool has_queue = false;  // a claim waits, or a dead one is left; set by load() only
  bool has_rows = false;   // its leases are rows (lease_rows.h)
};

// The table of records. One thread at a time.
//
// The leases of a mutex are in its record; those of a name with a greater capacity are rows of
// their own. Files of version 1 have them in the record, too: they become rows when it is next
// written.
//
// The rows of records. Of a record from an earlier boot, only the last token is left. A row that
// this library would not write is ErrorCode::corrupt and stays unchanged. If the file now belongs
// to another boot than when it was opened, ErrorCode::conflict: two machines share it.
class Records {
 public:
  Records(Connection& connection, std::int64_t epoch) noexcept;

  // Returns the record of a name with the leases that an operation needs; an empty one if there is
  // none. Within a transaction.
  [[nodiscard]] base::Result<Loaded> load(std::string_view name, const NeededLeases& needed,
                                          base::TimePoint now);
  // Returns the record with all its leases.
  [[nodiscard]] base::Result<Loaded> load_all(std::string_view name);
  // Writes what has become of a record that was loaded so.
  [[nodiscard]] base::Result<void> save(std::string_view name, const Loaded& before,
                                        const store::Record& after, base::TimePoint now);
  [[nodiscard]] base::Result<void> forget(std::string_view name);

  enum class Next : std::uint8_t { go_on, stop };
  // The most rows that one list() visits, in use or not: it bounds the time, whatever is in the
  // file.
  static constexpr std::size_t kMostVisited = 20'000;
  // Calls `visit` for the records in use whose names begin with the prefix, in byte order, from the
  // first one after `after`. Returns the last name that it has visited if it ended at kMostVisited,
  // and nothing if it came to the end or was stopped.
  using Visit = std::function<Next(std::string_view name, const store::Record& record)>;
  [[nodiscard]] base::Result<std::optional<std::string>> list(std::string_view prefix,
                                                              std::string_view after,
                                                              base::TimePoint now,
                                                              const Visit& visit);

  // Reads a row that begins with the columns of kLoad, without leases that are rows.
  [[nodiscard]] base::Result<Loaded> read(const Statement::Use& row, std::string_view name) const;

 private:
  // Calls `read_leases(record)` if its leases are rows.
  template <class ReadLeases>
  [[nodiscard]] base::Result<Loaded> load_with(std::string_view name, ReadLeases read_leases);
  // Says of a record, or of its leases, what is wrong.
  [[nodiscard]] base::Error named(base::Error error, std::string_view name) const;

  Connection& connection_;
  const std::int64_t epoch_;
  Statement load_;
  Statement save_;
  Statement forget_;
  Statement empty_queue_;
  Statement list_;
  LeaseRows rows_;
  std::string encoded_;  // kept for its memory
};

}  // namespace holdfast::engines::sqlite::internal
