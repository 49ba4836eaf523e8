#pragma once

#include <cstddef>

namespace holdfast::engines::redis::internal {

// How much of one reply is read: no reply that was asked for comes near. Beyond, the server is
// broken or hostile, and the connection ends before the memory does.
struct ReplyLimits {
  std::size_t bytes = std::size_t{64} << 20U;
  std::size_t elements = std::size_t{1} << 20U;  // of all its arrays together

  // Arrays in arrays in arrays.
  static constexpr std::size_t kDepth = 7;

  // For the answers to AUTH and its like.
  [[nodiscard]] static constexpr ReplyLimits for_greeting() noexcept {
    return {.bytes = std::size_t{64} << 10U, .elements = 64};
  }
  // For messages, which carry the name of a key.
  [[nodiscard]] static constexpr ReplyLimits for_messages() noexcept {
    return {.bytes = std::size_t{1} << 20U, .elements = 16};
  }
};

}  // namespace holdfast::engines::redis::internal
