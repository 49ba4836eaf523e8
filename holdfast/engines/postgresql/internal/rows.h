#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <holdfast/base/ids.h>
#include <holdfast/engines/postgresql/internal/libpq.h>

namespace holdfast::engines::postgresql::internal {

// Frees a result of libpq.
struct FreeResult {
  const Libpq* libpq = nullptr;
  void operator()(PGresult* result) const noexcept { libpq->clear(result); }
};

// The rows that a statement answers, in the server's binary format. Views last as long as this.
//
// Each column is nothing if it is null, is not there, or has not the size of its type.
class Rows {
 public:
  Rows() = default;
  Rows(const Libpq& libpq, PGresult* result) : result_(result, FreeResult{&libpq}) {}

  [[nodiscard]] int count() const { return result_ ? libpq().rows(result_.get()) : 0; }

  [[nodiscard]] std::optional<std::string_view> bytes(int row, int column) const {
    if (row >= count() || column >= libpq().columns(result_.get()) ||
        libpq().is_null(result_.get(), row, column) != 0) {
      return std::nullopt;
    }
    return std::string_view(libpq().value(result_.get(), row, column),
                            static_cast<std::size_t>(libpq().length(result_.get(), row, column)));
  }
  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const {
    const auto value = bytes(row, column);
    return value && value->size() == 8 ? std::optional(static_cast<std::int64_t>(word(*value)))
                                       : std::nullopt;
  }
  [[nodiscard]] std::optional<bool> flag(int row, int column) const {
    const auto value = bytes(row, column);
    return value && value->size() == 1 ? std::optional(value->front() != '\0') : std::nullopt;
  }
  [[nodiscard]] std::optional<base::LeaseId> id(int row, int column) const {
    const auto value = bytes(row, column);
    return value && value->size() == 16
               ? std::optional(base::LeaseId(word(*value), word(value->substr(8))))
               : std::nullopt;
  }

 private:
  [[nodiscard]] const Libpq& libpq() const { return *result_.get_deleter().libpq; }

  static std::uint64_t word(std::string_view bytes) noexcept {
    std::uint64_t value = 0;
    for (const char c : bytes.substr(0, 8)) {
      value = (value << 8U) | static_cast<unsigned char>(c);
    }
    return value;
  }

  std::unique_ptr<PGresult, FreeResult> result_;
};

}  // namespace holdfast::engines::postgresql::internal
