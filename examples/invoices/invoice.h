#pragma once

#include <string>
#include <string_view>

#include <holdfast/base/error.h>

#include "amount.h"
#include "date.h"

namespace invoices {

// What is on an invoice, as far as duplicates are concerned.
struct Invoice {
  std::string account;
  std::string number;
  std::string vendor;  // as it is written there
  Amount amount;
  Date date;

  friend bool operator==(const Invoice&, const Invoice&) = default;
};

// An invoice from what a person or a form says; invalid_argument tells which part cannot be:
// account and number are 1 to 64 bytes, the vendor is 1 to 128 and has a letter or a digit.
[[nodiscard]] holdfast::base::Result<Invoice> make_invoice(std::string_view account,
                                                           std::string_view number,
                                                           std::string_view vendor,
                                                           std::string_view amount,
                                                           std::string_view date);

}  // namespace invoices
