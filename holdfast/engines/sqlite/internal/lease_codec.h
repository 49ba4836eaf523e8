#pragma once

#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/store/record.h>

namespace holdfast::engines::sqlite::internal {

// The leases of a record, its waits and its log, as bytes, in the column `leases`. Nothing is no
// bytes; else the format's number, and then, numbers with the lowest byte first:
//
//   format 3 only:  permits of all leases 8
//   not format 1:   number of waits 2, and for each  id 16 · until 8 · permits 4
//                   length of the log 2, and for each entry  ends 8 · count 4
//   not format 3, for each lease:
//                   id 16 · token 8 · granted 8 · expires 8 · permits 4 · size of owner 2 ·
//                   size of reason 2 · owner · reason
//
// Format 1 is for a record that has leases alone. In format 3 the leases are elsewhere
// (lease_rows.h); programs that know only version 1 of the file take such a record for corrupt, and
// leave it alone.
void encode_leases(const store::Record& record, std::string& bytes);
// The same in format 3, if the record has leases.
void encode_without_leases(const store::Record& record, std::string& bytes);

// Sets `leases`, `waits` and `log` of the record; of leases that are elsewhere, `leases.rest()`.
// Bytes that this library would not write for a record with such a last token and such a capacity
// are ErrorCode::corrupt.
[[nodiscard]] base::Result<void> decode_leases(std::string_view bytes, store::Record& record);

// Returns whether this library may have written the lease for a record with such a last token.
[[nodiscard]] bool is_sound(const store::StoredLease& lease, const store::Record& record);

}  // namespace holdfast::engines::sqlite::internal
