#pragma once

#include <string>
#include <string_view>

namespace invoices {

// A vendor's name as two people would both write it: without the legal form at its end, in lower
// case, without punctuation, with single spaces. "ACME  Tools, Inc." becomes "acme tools".
//
// A name that is nothing but a legal form stays: "AG" becomes "ag". Bytes beyond ASCII stay as they
// are, so "É" and "é" are different. Empty for a name without letters and digits.
[[nodiscard]] std::string normalised_vendor(std::string_view name);

}  // namespace invoices
