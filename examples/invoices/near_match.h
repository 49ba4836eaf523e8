#pragma once

#include <chrono>
#include <cstdint>

#include "invoice.h"

namespace invoices {

inline constexpr std::int64_t kNearCents = 1;
inline constexpr std::chrono::days kNearDays{3};

enum class Match : std::uint8_t {
  none,
  near,   // the same account and vendor, the amount within a cent, the date within three days
  exact,  // the same account, vendor and number
};

// Compares two invoices. Vendors are compared by their normalised names. The result is symmetric,
// but near is not transitive.
[[nodiscard]] Match match(const Invoice& one, const Invoice& other);

}  // namespace invoices
