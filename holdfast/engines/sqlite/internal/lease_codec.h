#pragma once

#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/store/record.h>

namespace holdfast::engines::sqlite::internal {

// The leases of a record as bytes, in the column `leases`. No leases are no bytes; else the
// format's number, 1, and for each lease, numbers with the lowest byte first:
//
//   id 16 · token 8 · granted 8 · expires 8 · permits 4 · size of owner 2 · size of reason 2 ·
//   owner · reason
void encode_leases(const store::Record& record, std::string& bytes);

// Sets `record.leases`. Bytes that this library would not write for a record with such a last token
// and such a capacity are ErrorCode::corrupt.
[[nodiscard]] base::Result<void> decode_leases(std::string_view bytes, store::Record& record);

}  // namespace holdfast::engines::sqlite::internal
