#include <algorithm>
#include <array>
#include <vector>

#include "vendor_name.h"

namespace invoices {

namespace {

// Sorted. A form of several words is found word by word: "GmbH & Co. KG" is three of these.
constexpr std::array<std::string_view, 30> kLegalForms = {
    "ab",  "ag",           "aps", "as",      "bv",  "co",  "company", "corp", "corporation", "gmbh",
    "inc", "incorporated", "kg",  "limited", "llc", "llp", "ltd",     "nv",   "ohg",         "oy",
    "plc", "pty",          "sa",  "sarl",    "sas", "se",  "spa",     "sprl", "srl",         "ug"};
static_assert(std::ranges::is_sorted(kLegalForms));

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

bool is_part_of_word(char c) {
  return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : name) {
    if (c == '.' || c == '\'') {
      continue;  // "S.A." is one word
    }
    if (!is_part_of_word(c)) {
      inside = false;
      continue;
    }
    if (!inside) {
      words.emplace_back();
      inside = true;
    }
    words.back() += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return words;
}

}  // namespace

std::string normalised_vendor(std::string_view name) {
  std::vector<std::string> words = words_of(name);
  while (words.size() > 1 && std::ranges::binary_search(kLegalForms, words.back())) {
    words.pop_back();
  }
  std::string joined;
  for (const std::string& word : words) {
    joined += joined.empty() ? word : ' ' + word;
  }
  return joined;
}

}  // namespace invoices
