// Any bytes on a terminal: printable() and printable_message() leave nothing that could harm it,
// and printable() can be undone.
#include <algorithm>
#include <charconv>
#include <string>

#include <tests/fuzz/fuzz.h>

#include <holdfast/base/utf8.h>

namespace {

using namespace holdfast;
using fuzz::require;

void require_safe(std::string_view text) {
  require(base::is_utf8(text), "what is printed is UTF-8");
  while (!text.empty()) {
    const base::CodePoint front = base::front_of_utf8(text);
    require(!base::is_unsafe_to_print(front.value), "no character could harm a terminal");
    require(
        front.value >= 0x20 && front.value != 0x7f && (front.value < 0x80 || front.value > 0x9f),
        "nor is it a control character");
    text.remove_prefix(front.size);
  }
}

std::string undo(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    if (text.starts_with("\\x")) {
      unsigned byte = 0;
      std::from_chars(text.data() + 2, text.data() + 4, byte, 16);
      bytes += static_cast<char>(byte);
      text.remove_prefix(4);
    } else {
      bytes += text.front();
      text.remove_prefix(text.starts_with("\\\\") ? 2 : 1);
    }
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::as_text(data, size);
  const std::string shown = base::printable(bytes);
  require_safe(shown);
  require(shown.size() <= base::kPrintableLimit, "it is not longer than the limit");
  // A text that ends in … may have been cut.
  if (!shown.ends_with("…")) {
    require(undo(shown) == bytes, "printable text can be undone");
  }
  const std::string message = base::printable_message(bytes);
  require_safe(message);
  require(base::printable_message(message) == message, "a printable message stays as it is");
  return 0;
}
