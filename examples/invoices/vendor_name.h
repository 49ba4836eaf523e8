#pragma once

#include <string>
#include <string_view>

namespace invoices {

// Normalises a vendor's name, so that spellings of it become equal: without the legal form at its
// end, in lower case, without punctuation, with single spaces. "ACME  Tools, Inc." becomes "acme
// tools".
//
// A name that is nothing but a legal form keeps it: "AG" becomes "ag". Bytes beyond ASCII are
// unchanged, so "É" and "é" are different. Returns "" for a name without letters and digits.
[[nodiscard]] std::string normalised_vendor(std::string_view name);

}  // namespace invoices
