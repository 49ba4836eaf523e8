#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/sqlite/internal/connection.h>
#include <holdfast/engines/sqlite/internal/statement.h>
#include <holdfast/store/record.h>

namespace holdfast::engines::sqlite::internal {

// A record as it was read, and what was known of tokens at that moment.
struct Loaded {
  store::Record record;
  std::uint64_t high_water = 0;
  std::uint64_t ceiling = 0;
  bool has_queue = false;  // a claim waits, or a dead one is left; set by load() only
};

// The table of records. One thread at a time.
//
// Of a record from an earlier boot, only the last token is left. A row that this library would not
// write is ErrorCode::corrupt and stays as it is. If the file has gone on to another boot than the
// one it was opened in, ErrorCode::conflict: it is shared by two machines.
class Records {
 public:
  Records(Connection& connection, std::int64_t epoch) noexcept;

  // An empty record if there is none.
  [[nodiscard]] base::Result<Loaded> load(std::string_view name);
  [[nodiscard]] base::Result<void> save(std::string_view name, const store::Record& record,
                                        base::TimePoint now);
  [[nodiscard]] base::Result<void> forget(std::string_view name);

  enum class Next : std::uint8_t { go_on, stop };
  // How many rows one list() visits, in use or not: it takes no longer, whatever is in the file.
  static constexpr std::size_t kMostVisited = 20'000;
  // Calls `visit` for the records in use whose names begin with the prefix, in byte order, from the
  // first one after `after`. Returns the last name that it has visited if it ended at kMostVisited,
  // and nothing if it came to the end or was stopped.
  using Visit = std::function<Next(std::string_view name, const store::Record& record)>;
  [[nodiscard]] base::Result<std::optional<std::string>> list(std::string_view prefix,
                                                              std::string_view after,
                                                              base::TimePoint now,
                                                              const Visit& visit);

  // A row that begins with the columns of kLoad.
  [[nodiscard]] base::Result<Loaded> read(const Statement::Use& row, std::string_view name) const;

 private:
  Connection& connection_;
  const std::int64_t epoch_;
  Statement load_;
  Statement save_;
  Statement forget_;
  Statement empty_queue_;
  Statement list_;
  std::string encoded_;  // kept for its memory
};

}  // namespace holdfast::engines::sqlite::internal
