#pragma once

#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/store/record.h>

namespace holdfast::engines::sqlite::internal {

// The leases of a record, its waits and its log, as bytes, in the column `leases`. Nothing is no
// bytes; else the format's number, and then, numbers with the lowest byte first:
//
//   format 2 only:  number of waits 2, and for each  id 16 · until 8 · permits 4
//                   length of the log 2, and for each entry  ends 8 · count 4
//   for each lease  id 16 · token 8 · granted 8 · expires 8 · permits 4 · size of owner 2 ·
//                   size of reason 2 · owner · reason
//
// Format 1 is for a record that has leases alone.
void encode_leases(const store::Record& record, std::string& bytes);

// Sets `leases`, `waits` and `log` of the record. Bytes that this library would not write for a
// record with such a last token and such a capacity are ErrorCode::corrupt.
[[nodiscard]] base::Result<void> decode_leases(std::string_view bytes, store::Record& record);

}  // namespace holdfast::engines::sqlite::internal
