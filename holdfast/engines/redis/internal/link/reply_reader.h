#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include <hiredis/read.h>

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/link/reply.h>
#include <holdfast/engines/redis/internal/link/reply_limits.h>

namespace holdfast::engines::redis::internal {

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

  // How many bytes of the reply that is not whole yet have come.
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
