#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>

namespace holdfast::engines::postgresql::internal {

// The parameters of one statement, in the server's binary format.
//
//   Parameters().bytes(name).id(claim.id).number(7)
class Parameters {
 public:
  Parameters& bytes(std::string_view value);   // bytea, and text in UTF-8
  Parameters& number(std::int64_t value);      // bigint
  Parameters& flag(bool value);                // boolean
  Parameters& id(const base::LeaseId& value);  // uuid
  Parameters& nothing();                       // null
  // A time in microseconds, rounded up.
  Parameters& time(base::Duration value);
  Parameters& optional_number(std::optional<std::int64_t> value);

  Parameters& all_bytes(std::span<const std::string_view> values);  // bytea[]
  Parameters& all_texts(std::span<const std::string> values);       // text[]
  Parameters& all_ids(std::span<const base::LeaseId> values);       // uuid[]
  Parameters& all_numbers(std::span<const std::int64_t> values);    // bigint[]

  [[nodiscard]] std::size_t count() const noexcept { return values_.size(); }
  [[nodiscard]] bool is_null(std::size_t i) const noexcept { return !values_[i]; }
  [[nodiscard]] const std::string& operator[](std::size_t i) const noexcept { return *values_[i]; }

 private:
  std::vector<std::optional<std::string>> values_;
};

}  // namespace holdfast::engines::postgresql::internal
