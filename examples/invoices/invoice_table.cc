#include <cstdint>
#include <string>
#include <utility>

#include <sqlite3.h>

#include "invoice_table.h"
#include "near_match.h"
#include "sql.h"
#include "vendor_name.h"

namespace invoices {

namespace {

using holdfast::base::ErrorCode;
using holdfast::base::fail;
using holdfast::base::Result;

constexpr int kBusyTimeoutMs = 5000;

std::unexpected<holdfast::base::Error> failure(sqlite3* database) {
  return fail(ErrorCode::unavailable,
              std::string("the table of invoices cannot be used: ") + sqlite3_errmsg(database));
}

// A statement whose parameters are bound in order.
class Query {
 public:
  Query(sqlite3* database, const char* sql) : database_(database) {
    sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr);
  }
  ~Query() { sqlite3_finalize(statement_); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // `text` must outlive the query.
  Query& bind(std::string_view text) {
    sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                      SQLITE_STATIC);
    return *this;
  }
  Query& bind(std::int64_t number) {
    sqlite3_bind_int64(statement_, ++bound_, number);
    return *this;
  }

  // Returns all rows.
  Result<std::vector<Invoice>> invoices() {
    std::vector<Invoice> rows;
    int state = SQLITE_MISUSE;
    while ((state = sqlite3_step(statement_)) == SQLITE_ROW) {
      rows.push_back({.account = text(0),
                      .number = text(1),
                      .vendor = text(2),
                      .amount = Amount{sqlite3_column_int64(statement_, 3)},
                      .date = Date(std::chrono::days(sqlite3_column_int64(statement_, 4)))});
    }
    if (state != SQLITE_DONE) {
      return failure(database_);
    }
    return rows;
  }

 private:
  [[nodiscard]] std::string text(int column) {
    const void* const bytes = sqlite3_column_blob(statement_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes != nullptr ? std::string(static_cast<const char*>(bytes), size) : std::string();
  }

  sqlite3* const database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

std::int64_t day_number(Date date) { return date.time_since_epoch().count(); }

}  // namespace

void InvoiceTable::Close::operator()(sqlite3* database) const noexcept {
  sqlite3_close_v2(database);
}

Result<InvoiceTable> InvoiceTable::open(const std::filesystem::path& file) {
  sqlite3* plain = nullptr;
  const int opened = sqlite3_open(file.c_str(), &plain);
  Database database(plain);
  if (opened != SQLITE_OK) {
    return failure(plain);
  }
  sqlite3_busy_timeout(plain, kBusyTimeoutMs);
  if (sqlite3_exec(plain, sql::kSchema, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return failure(plain);
  }
  return InvoiceTable(std::move(database));
}

Result<std::vector<Invoice>> InvoiceTable::candidates(const Invoice& invoice) {
  const std::string vendor = normalised_vendor(invoice.vendor);
  Query query(database_.get(), sql::kCandidates);
  return query.bind(invoice.account)
      .bind(vendor)
      .bind(invoice.number)
      .bind(day_number(invoice.date - kNearDays))
      .bind(day_number(invoice.date + kNearDays))
      .invoices();
}

Result<std::vector<Invoice>> InvoiceTable::all() {
  return Query(database_.get(), sql::kAll).invoices();
}

Result<void> InvoiceTable::insert(const Invoice& invoice, std::string_view file_hash) {
  const std::string vendor = normalised_vendor(invoice.vendor);
  Query query(database_.get(), sql::kInsert);
  const auto done = query.bind(invoice.account)
                        .bind(invoice.number)
                        .bind(invoice.vendor)
                        .bind(vendor)
                        .bind(invoice.amount.cents)
                        .bind(day_number(invoice.date))
                        .bind(file_hash)
                        .invoices();
  if (!done) {
    return std::unexpected(done.error());
  }
  return {};
}

}  // namespace invoices
