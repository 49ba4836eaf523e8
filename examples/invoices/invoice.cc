#include "invoice.h"
#include "vendor_name.h"

namespace invoices {

namespace {

using holdfast::base::ErrorCode;
using holdfast::base::fail;
using holdfast::base::Result;

Result<void> check_size(std::string_view what, std::string_view text, std::size_t most) {
  if (text.empty() || text.size() > most) {
    return fail(ErrorCode::invalid_argument, "the " + std::string(what) + " is not between 1 and " +
                                                 std::to_string(most) + " bytes long");
  }
  return {};
}

}  // namespace

Result<Invoice> make_invoice(std::string_view account, std::string_view number,
                             std::string_view vendor, std::string_view amount,
                             std::string_view date) {
  for (const auto& checked : {check_size("account", account, 64), check_size("number", number, 64),
                              check_size("vendor", vendor, 128)}) {
    if (!checked) {
      return std::unexpected(checked.error());
    }
  }
  if (normalised_vendor(vendor).empty()) {
    return fail(ErrorCode::invalid_argument, "the vendor has no letter and no digit");
  }
  const auto parsed_amount = parse_amount(amount);
  if (!parsed_amount) {
    return std::unexpected(parsed_amount.error());
  }
  const auto parsed_date = parse_date(date);
  if (!parsed_date) {
    return std::unexpected(parsed_date.error());
  }
  return Invoice{.account = std::string(account),
                 .number = std::string(number),
                 .vendor = std::string(vendor),
                 .amount = *parsed_amount,
                 .date = *parsed_date};
}

}  // namespace invoices
