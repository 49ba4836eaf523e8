#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::base {

// The most bytes that printable() returns.
inline constexpr std::size_t kPrintableLimit = 256;

// Returns any bytes as one line that is safe in a log or on a terminal: printable ASCII and valid
// UTF-8 stay, a backslash is doubled, and every other byte becomes \xNN, including control
// characters, line separators, direction overrides and malformed UTF-8. A result longer than
// kPrintableLimit is cut at a whole character and ends in "…"; up to that length, different bytes
// give different text.
std::string printable(std::string_view bytes);

// Returns a whole message as one line that is safe in a log or on a terminal, whatever a server or
// another program has put into it. Escapes what printable() escapes, but keeps backslashes, since
// parts of a message may have been escaped already, and cuts nothing.
std::string printable_message(std::string_view bytes);

// Returns whether the character could break a line or change how the rest of it is shown.
bool is_unsafe_to_print(char32_t character) noexcept;

}  // namespace holdfast::base
