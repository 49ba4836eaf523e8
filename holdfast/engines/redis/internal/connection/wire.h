#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis::internal {

// A stream of bytes to and from the server that never blocks: poll() its descriptor instead, but
// only after a read that found nothing.
//
// One thread may read while another writes. Its destructor ends the connection.
class Wire {
 public:
  Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  virtual ~Wire() = default;

  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  // Returns what to poll() for besides POLLIN, so that a read can go on; nearly always 0.
  [[nodiscard]] virtual short read_also_needs() const noexcept { return 0; }

  // Return how many bytes were moved; 0: none for now. unavailable: the connection has ended, and
  // why.
  [[nodiscard]] virtual base::Result<std::size_t> read(std::span<char> into) = 0;
  [[nodiscard]] virtual base::Result<std::size_t> write(std::string_view bytes) = 0;
};

// poll() until one is ready (true) or the deadline has come (false).
[[nodiscard]] bool poll_until(std::span<pollfd> descriptors, base::Deadline deadline) noexcept;

// Writes everything, or reports unavailable.
[[nodiscard]] base::Result<void> write_all(Wire& wire, std::string_view bytes,
                                           base::Deadline deadline);

// Return why a connection has ended: the server closed it, or what errno says.
[[nodiscard]] base::Error closed_by_server();
[[nodiscard]] base::Error connection_failed(int error_number);

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

// Returns the server's address for messages: "localhost:6379", the path of its socket, or the name
// of a master and where its Sentinels are.
[[nodiscard]] std::string server_address(const RedisOptions& options);
[[nodiscard]] std::string server_address(const std::string& host, std::uint16_t port);
// Returns "the Sentinels at a:26379, b:26379", for messages.
[[nodiscard]] std::string sentinel_addresses(const SentinelOptions& sentinel);

}  // namespace holdfast::engines::redis::internal
