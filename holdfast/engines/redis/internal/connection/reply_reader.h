#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include <hiredis/read.h>

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/connection/reply.h>

namespace holdfast::engines::redis::internal {

// The most that is read of one reply: no reply to our commands comes near. Beyond, the server is
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

// Bytes in, replies out: hiredis' reader, which makes Replies directly.
//
// Not thread-safe. After an error it can be thrown away only, and so can the connection: where the
// next reply would begin is not known.
class ReplyReader {
 public:
  explicit ReplyReader(ReplyLimits limits = {});
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // Takes bytes from the server. unavailable: there is no memory for them.
  [[nodiscard]] base::Result<void> feed(std::string_view bytes);
  // Returns the next whole reply, or none yet. unavailable: what the server sends is not its
  // protocol, or more than the limits allow.
  [[nodiscard]] base::Result<std::optional<Reply>> next();

  // Returns how many bytes of an incomplete reply have arrived.
  [[nodiscard]] std::size_t begun() const noexcept { return begun_; }

 private:
  struct Functions;

  struct Free {
    void operator()(redisReader* reader) const noexcept;
  };
  [[nodiscard]] base::Error refusal() const;

  const ReplyLimits limits_;
  const std::unique_ptr<redisReader, Free> reader_;
  // Filled piece by piece, also over several feeds; the reader's tasks point into it.
  Reply root_;
  std::size_t begun_ = 0;
  std::size_t elements_ = 0;  // that the arrays of root_ have announced
  bool is_too_large_ = false;
  bool is_unknown_type_ = false;
};

}  // namespace holdfast::engines::redis::internal
