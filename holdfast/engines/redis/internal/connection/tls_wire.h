#pragma once

#include <string>

#include <holdfast/base/mutex.h>
#include <holdfast/engines/redis/internal/connection/wire.h>

using SSL = struct ssl_st;  // OpenSSL's own name

namespace holdfast::engines::redis::internal {

// TLS over a socket. Unless this is switched off, checks that the server's certificate comes from a
// trusted authority and is made out for the host.
class TlsWire final : public Wire {
 public:
  // Shakes hands. unavailable: it failed, the message says why; invalid_argument: a file of the
  // options cannot be used.
  [[nodiscard]] static base::Result<std::unique_ptr<TlsWire>> connect(
      std::unique_ptr<WireSocket> socket, const TlsOptions& tls, const std::string& host,
      base::Deadline deadline);
  ~TlsWire() override;

  [[nodiscard]] int descriptor() const noexcept override { return socket_->descriptor(); }
  [[nodiscard]] short read_also_needs() const noexcept override;
  [[nodiscard]] base::Result<std::size_t> read(std::span<char> into) override;
  [[nodiscard]] base::Result<std::size_t> write(std::string_view bytes) override;

 private:
  struct FreeSsl {
    void operator()(SSL* ssl) const noexcept;
  };
  using SslPtr = std::unique_ptr<SSL, FreeSsl>;

  TlsWire(std::unique_ptr<WireSocket> socket, SslPtr ssl) noexcept;
  [[nodiscard]] static base::Result<SslPtr> prepare(WireSocket& socket, const TlsOptions& tls,
                                                    const std::string& host);
  [[nodiscard]] base::Result<void> shake_hands(base::Deadline deadline);
  [[nodiscard]] base::Error failure(int status) const;

  const std::unique_ptr<WireSocket> socket_;
  // OpenSSL does not let one thread read while another writes.
  mutable base::Mutex mutex_;
  const SslPtr ssl_;  // what it points to is used with mutex_, but for the handshake
  bool read_needs_write_ HOLDFAST_GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::engines::redis::internal
