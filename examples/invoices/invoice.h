#pragma once

#include <string>
#include <string_view>

#include <holdfast/base/error.h>

#include "amount.h"
#include "date.h"

namespace invoices {

// The fields of an invoice that matter for duplicates.
struct Invoice {
  std::string account;
  std::string number;
  std::string vendor;  // as written on the invoice
  Amount amount;
  Date date;

  friend bool operator==(const Invoice&, const Invoice&) = default;
};

// Makes an invoice from text; invalid_argument says which field is wrong: account and number have 1
// to 64 bytes, the vendor has 1 to 128 with at least one letter or digit.
[[nodiscard]] holdfast::base::Result<Invoice> make_invoice(std::string_view account,
                                                           std::string_view number,
                                                           std::string_view vendor,
                                                           std::string_view amount,
                                                           std::string_view date);

}  // namespace invoices
