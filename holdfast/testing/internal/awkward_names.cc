#include <holdfast/testing/internal/awkward_names.h>

#include <holdfast/base/name.h>

namespace holdfast::testing::internal {

std::vector<std::string> awkward_names() {
  std::vector<std::string> names{"a",
                                 "A",
                                 " ",
                                 "  ",
                                 "a ",
                                 " a",
                                 "\n",
                                 "\r\n",
                                 "\t",
                                 "'",
                                 "\"",
                                 "''",
                                 "`",
                                 ";--",
                                 "%",
                                 "_",
                                 "*",
                                 "?",
                                 "[a]",
                                 "{}",
                                 "{a}",
                                 "{a}b",
                                 ":",
                                 "a:b",
                                 "$",
                                 "$a",
                                 "a.b",
                                 "\\",
                                 "\\\\",
                                 "\\n",
                                 "/",
                                 "../x",
                                 "0",
                                 "00",
                                 "1e3",
                                 "null",
                                 "\x7f",
                                 "\x80",
                                 "\xff",
                                 "\xc3\xa9",
                                 "e\xcc\x81",
                                 "\xe2\x82\xac",
                                 "\xf0\x9f\x94\x92"};
  names.emplace_back(1, '\0');
  names.emplace_back(2, '\0');
  names.emplace_back("a\0", 2);
  names.emplace_back("a\0b", 3);
  names.emplace_back("\0a", 2);
  names.emplace_back(base::Name::kMaxSize, 'x');
  names.emplace_back(base::Name::kMaxSize - 1, 'x');
  names.emplace_back(base::Name::kMaxSize, '\xff');
  std::string all_bytes;
  for (int byte = 0; byte < 256; ++byte) {
    all_bytes.push_back(static_cast<char>(byte));
  }
  names.push_back(all_bytes);
  return names;
}

}  // namespace holdfast::testing::internal
