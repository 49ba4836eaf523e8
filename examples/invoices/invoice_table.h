#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include <holdfast/base/error.h>

#include "invoice.h"

struct sqlite3;

namespace invoices {

// The invoices in an SQLite file. A connection of its own; one thread at a time.
//
// Each call is a transaction by itself, and no two calls are one: as with a database behind a web
// service, between "is it there?" and "store it" anything can happen. The lock is what prevents it.
//
// Errors: unavailable where the file cannot be used, or not within five seconds.
class InvoiceTable {
 public:
  // Makes the table where there is none.
  [[nodiscard]] static holdfast::base::Result<InvoiceTable> open(const std::filesystem::path& file);

  // Those that match() may find to be the same, the oldest first.
  [[nodiscard]] holdfast::base::Result<std::vector<Invoice>> candidates(const Invoice& invoice);
  [[nodiscard]] holdfast::base::Result<std::vector<Invoice>> all();
  [[nodiscard]] holdfast::base::Result<void> insert(const Invoice& invoice,
                                                    std::string_view file_hash);

 private:
  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };
  using Database = std::unique_ptr<sqlite3, Close>;

  explicit InvoiceTable(Database database) noexcept : database_(std::move(database)) {}

  Database database_;
};

}  // namespace invoices
