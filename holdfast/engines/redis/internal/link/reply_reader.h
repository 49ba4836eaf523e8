#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include <hiredis/read.h>

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/link/reply.h>

namespace holdfast::engines::redis::internal {

// Bytes in, replies out: hiredis' reader, which makes Replies directly.
//
// Not thread-safe. After an error it can be thrown away only, and so can the connection: where the
// next reply would begin is not known.
class ReplyReader {
 public:
  // What no reply of ours comes near: a longer string, or an array of more, is an error and not a
  // use of memory.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;
  static constexpr std::size_t kMostElements = std::size_t{1} << 20U;

  ReplyReader();
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // unavailable: what the server sends is not, or too much of, its protocol.
  [[nodiscard]] base::Result<void> feed(std::string_view bytes);
  // The next whole reply, or none yet. Errors as above.
  [[nodiscard]] base::Result<std::optional<Reply>> next();

 private:
  struct Functions;

  struct Free {
    void operator()(redisReader* reader) const noexcept;
  };
  const std::unique_ptr<redisReader, Free> reader_;
  // Filled piece by piece, also over several feeds; the reader's tasks point into it.
  Reply root_;
};

}  // namespace holdfast::engines::redis::internal
