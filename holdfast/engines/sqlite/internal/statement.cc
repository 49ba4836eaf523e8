#include <holdfast/engines/sqlite/internal/statement.h>

#include <sqlite3.h>

#include <holdfast/base/try.h>
#include <holdfast/engines/sqlite/internal/connection.h>

namespace holdfast::engines::sqlite::internal {

Statement::~Statement() { sqlite3_finalize(prepared_); }

base::Result<void> Statement::run() {
  Use use(*this);
  HOLDFAST_TRY(use.step());
  return {};
}

Statement::Use::~Use() {
  if (statement_.prepared_ != nullptr) {
    sqlite3_reset(statement_.prepared_);
  }
}

bool Statement::Use::prepare() {
  if (rc_ == SQLITE_OK && statement_.prepared_ == nullptr) [[unlikely]] {
    rc_ = sqlite3_prepare_v3(statement_.connection_.handle(), statement_.sql_, -1,
                             SQLITE_PREPARE_PERSISTENT, &statement_.prepared_, nullptr);
  }
  return rc_ == SQLITE_OK;
}

void Statement::Use::bind(int parameter, std::int64_t value) {
  if (prepare()) {
    rc_ = sqlite3_bind_int64(statement_.prepared_, parameter, value);
  }
}

void Statement::Use::bind(int parameter, std::string_view bytes) {
  if (prepare()) {
    // A null pointer would be NULL, not the empty blob.
    rc_ = sqlite3_bind_blob64(statement_.prepared_, parameter, bytes.empty() ? "" : bytes.data(),
                              bytes.size(), SQLITE_STATIC);
  }
}

void Statement::Use::bind_text(int parameter, std::string_view text) {
  if (prepare()) {
    rc_ = sqlite3_bind_text64(statement_.prepared_, parameter, text.empty() ? "" : text.data(),
                              text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
}

base::Result<bool> Statement::Use::step() {
  if (prepare()) {
    rc_ = sqlite3_step(statement_.prepared_);
    if (rc_ == SQLITE_ROW || rc_ == SQLITE_DONE) {
      const bool row = rc_ == SQLITE_ROW;
      rc_ = SQLITE_OK;
      return row;
    }
  }
  return std::unexpected(statement_.connection_.failure(rc_));
}

bool Statement::Use::is_null(int column) const {
  return sqlite3_column_type(statement_.prepared_, column) == SQLITE_NULL;
}

std::int64_t Statement::Use::integer(int column) const {
  return sqlite3_column_int64(statement_.prepared_, column);
}

std::string_view Statement::Use::bytes(int column) const {
  const void* const data = sqlite3_column_blob(statement_.prepared_, column);
  const int size = sqlite3_column_bytes(statement_.prepared_, column);
  return data == nullptr
             ? std::string_view()
             : std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

}  // namespace holdfast::engines::sqlite::internal
