#pragma once

#include <string_view>
#include <utility>

#include <fmt/core.h>

#include <holdfast/base/error.h>

// Standard output. A write that fails is remembered, and the next flush or close reports it, so no
// caller checks each write.
namespace holdfast::cli {

void write_output(std::string_view text) noexcept;

template <class... Args>
void print_output(fmt::format_string<Args...> format, Args&&... args) {
  write_output(fmt::format(format, std::forward<Args>(args)...));
}

// Return an error (`failed`) if anything that was written so far did not reach the output. Nothing
// may be written after a close; a second close says what the first one said.
[[nodiscard]] base::Result<void> flush_output();
[[nodiscard]] base::Result<void> close_output();

}  // namespace holdfast::cli
