#pragma once

#include <sys/socket.h>

#include <holdfast/engines/redis/internal/link/wire.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis::internal {

// A plain TCP or unix socket.
class WireSocket final : public Wire {
 public:
  // Tries every address of the host in turn, each for its share of the time that is left.
  // unavailable: none took the connection; the message says why.
  [[nodiscard]] static base::Result<std::unique_ptr<WireSocket>> connect(
      const RedisOptions& options, base::Deadline deadline);
  ~WireSocket() override;

  [[nodiscard]] int descriptor() const noexcept override { return descriptor_; }
  [[nodiscard]] base::Result<std::size_t> read(std::span<char> into) override;
  [[nodiscard]] base::Result<std::size_t> write(std::string_view bytes) override;

 private:
  explicit WireSocket(int descriptor) noexcept : descriptor_(descriptor) {}
  [[nodiscard]] static base::Result<std::unique_ptr<WireSocket>> connect_to(
      const sockaddr* address, socklen_t size, base::Deadline deadline);

  const int descriptor_;
};

// Where the server is, for messages: "localhost:6379", or the path of its socket.
[[nodiscard]] std::string server_address(const RedisOptions& options);

}  // namespace holdfast::engines::redis::internal
