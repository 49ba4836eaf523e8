#include <holdfast/base/printable.h>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::string_view_literals;

TEST(Printable, KeepsPrintableAsciiAndUtf8) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("invoice/2024 #17~"), "invoice/2024 #17~");
  EXPECT_EQ(printable("Zürich 東京 🔒"), "Zürich 東京 🔒");
}

TEST(Printable, EscapesControlCharactersAndTheBackslash) {
  EXPECT_EQ(printable("a\nb\0c\x7f"sv), R"(a\x0ab\x00c\x7f)");
  EXPECT_EQ(printable(R"(a\x0a)"), R"(a\\x0a)");
}

TEST(Printable, EscapesCharactersThatBreakOrReorderALine) {
  EXPECT_EQ(printable("\u0085"), R"(\xc2\x85)");      // next line
  EXPECT_EQ(printable("\u2028"), R"(\xe2\x80\xa8)");  // line separator
  EXPECT_EQ(printable("\u202e"), R"(\xe2\x80\xae)");  // right-to-left override
}

TEST(Printable, EscapesMalformedUtf8ByteByByte) {
  EXPECT_EQ(printable("\xff"), R"(\xff)");
  EXPECT_EQ(printable("\x80"), R"(\x80)");                  // continuation without a lead
  EXPECT_EQ(printable("\xc3"), R"(\xc3)");                  // cut short
  EXPECT_EQ(printable("\xc3("), R"(\xc3()");                // lead without a continuation
  EXPECT_EQ(printable("\xc0\xaf"), R"(\xc0\xaf)");          // overlong, two bytes
  EXPECT_EQ(printable("\xe0\x80\xaf"), R"(\xe0\x80\xaf)");  // overlong, three bytes
  EXPECT_EQ(printable("\xf0\x80\x80\xaf"), R"(\xf0\x80\x80\xaf)");
  EXPECT_EQ(printable("\xed\xa0\x80"), R"(\xed\xa0\x80)");  // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), R"(\xf4\x90\x80\x80)");
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), R"(\xf5\x80\x80\x80)");
}

TEST(Printable, KeepsTheSmallestAndLargestOfEachUtf8Length) {
  for (const std::string_view text :
       {"\u00a0", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, FitsExactlyAtTheLimitAndIsCutBeyond) {
  const std::string full(kPrintableLimit, 'a');
  EXPECT_EQ(printable(full), full);
  EXPECT_EQ(printable(full + "a"), std::string(kPrintableLimit - 3, 'a') + "…");
}

TEST(Printable, IsCutAtAWholeCharacterOrEscape) {
  std::string accents;
  for (int i = 0; i < 200; ++i) accents += "é";
  const std::string cut = printable("a" + accents);
  EXPECT_EQ(cut, "a" + accents.substr(0, 252) + "…");
  const std::string escaped = printable(std::string(1024, '\0'));
  EXPECT_LE(escaped.size(), kPrintableLimit);
  EXPECT_TRUE(escaped.ends_with("\\x00…"));
}

TEST(PrintableMessage, IsOneLineWithoutControlCharactersWhateverIsInIt) {
  EXPECT_EQ(printable_message("said \033[2J\nholdfast: ok\r\u009b\u202e\x7f\xff"),
            R"(said \x1b[2J\x0aholdfast: ok\x0d\xc2\x9b\xe2\x80\xae\x7f\xff)");
}

TEST(PrintableMessage, KeepsWhatWasEscapedAlreadyAndCutsNothing) {
  const std::string message = printable("a\n") + std::string(10'000, 'x') + "Zürich";
  EXPECT_EQ(printable_message(message), message);
}

}  // namespace
}  // namespace holdfast::base
