#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include <holdfast/base/error.h>

#include "invoice.h"

struct sqlite3;

namespace invoices {

// The invoices in an SQLite file, over one connection. One thread at a time.
//
// Each call is its own transaction: as with a database behind a web service, anything can happen
// between "is it stored?" and "store it". The lock prevents that.
//
// Errors: unavailable if the file cannot be used, or not within five seconds.
class InvoiceTable {
 public:
  // Opens the file, and creates the table if there is none.
  [[nodiscard]] static holdfast::base::Result<InvoiceTable> open(const std::filesystem::path& file);

  // Returns the invoices that match() must compare with this one, the oldest first.
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
