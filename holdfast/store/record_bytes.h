#pragma once

#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/store/record.h>

namespace holdfast::store {

// Returns the record as bytes, for a storage that keeps values without looking into them. Equal
// records have equal bytes. The first byte is the version of the format.
[[nodiscard]] std::string to_bytes(const Record& record);

// Returns the record that to_bytes() wrote; ErrorCode::corrupt for anything else, whatever the
// bytes are.
[[nodiscard]] base::Result<Record> record_of(std::string_view bytes);

}  // namespace holdfast::store
