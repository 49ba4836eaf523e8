#include <cstdlib>

#include "near_match.h"
#include "vendor_name.h"

namespace invoices {

Match match(const Invoice& one, const Invoice& other) {
  if (one.account != other.account ||
      normalised_vendor(one.vendor) != normalised_vendor(other.vendor)) {
    return Match::none;
  }
  if (one.number == other.number) {
    return Match::exact;
  }
  const bool is_near = std::abs(one.amount.cents - other.amount.cents) <= kNearCents &&
                       std::chrono::abs(one.date - other.date) <= kNearDays;
  return is_near ? Match::near : Match::none;
}

}  // namespace invoices
