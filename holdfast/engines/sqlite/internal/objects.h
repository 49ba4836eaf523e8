#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/engines/sqlite/internal/connection.h>
#include <holdfast/engines/sqlite/internal/statement.h>
#include <holdfast/engines/sqlite/internal/transaction.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::engines::sqlite::internal {

// Makes the tables of objects where the file has none.
[[nodiscard]] base::Result<void> make_objects(Connection& connection, Transactions& transactions);

// The rows of objects in a file, in one epoch of it (see ledger.h). One thread at a time; what
// changes something is to be called within a transaction.
class Objects {
 public:
  Objects(Connection& connection, std::int64_t epoch) noexcept;

  struct Row {
    std::int64_t number = 0;
    base::FencingToken newest{0};
    bool stored = false;
  };
  [[nodiscard]] base::Result<std::optional<Row>> find(const store::ObjectKey& key);
  // `data` is set if there are any.
  [[nodiscard]] base::Result<std::optional<Row>> load(const store::ObjectKey& key,
                                                      std::optional<std::string>& data);

  // `row` is what was found for the key, and all that follows from its token was judged already.
  [[nodiscard]] base::Result<void> put(const store::ObjectSave& save,
                                       const std::optional<Row>& row);
  [[nodiscard]] base::Result<void> raise(const Row& row, base::FencingToken token);
  // Leaves only the token; of zero, nothing.
  [[nodiscard]] base::Result<void> drop(const store::ObjectKey& key, const std::optional<Row>& row,
                                        base::FencingToken token, base::TimePoint now);

  // Forgets a few tokens without data that were not used since then.
  [[nodiscard]] base::Result<void> forget_some(base::TimePoint unused_since);

  [[nodiscard]] base::Result<store::IdPage> list(std::string_view type, std::string_view prefix,
                                                 std::size_t limit, std::string_view after);

 private:
  [[nodiscard]] base::Result<std::int64_t> add(const store::ObjectKey& key,
                                               base::FencingToken token, bool stored,
                                               std::int64_t used);
  [[nodiscard]] base::Result<void> change(std::int64_t number, base::FencingToken token,
                                          bool stored, std::int64_t used);

  Connection& connection_;
  const std::int64_t epoch_;
  Statement find_;
  Statement load_;
  Statement add_;
  Statement change_;
  Statement put_data_;
  Statement drop_data_;
  Statement drop_object_;
  Statement forget_;
  Statement list_;
};

}  // namespace holdfast::engines::sqlite::internal
