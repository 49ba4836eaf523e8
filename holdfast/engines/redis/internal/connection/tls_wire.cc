#include <holdfast/engines/redis/internal/connection/tls_wire.h>

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// The oldest entry of OpenSSL's queue of errors, which is then emptied.
std::string openssl_reason() {
  const unsigned long code = ::ERR_get_error();
  ::ERR_clear_error();
  const char* const reason = ::ERR_reason_error_string(code);
  return reason != nullptr ? reason : "no reason was given";
}

std::unexpected<base::Error> bad_file(std::string_view option, const std::string& file) {
  return fail(ErrorCode::invalid_argument, std::string(option) + ": cannot use the file '" +
                                               base::printable(file) + "': " + openssl_reason());
}

using ContextPtr = std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)>;

Result<ContextPtr> make_context(const TlsOptions& tls) {
  ContextPtr context(::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free);
  if (context == nullptr) {
    return fail(ErrorCode::unavailable, "TLS cannot be used: " + openssl_reason());
  }
  // A key with a passphrase is refused: nobody may be there to type it.
  ::SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return 0; });
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  ::SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
  if (tls.ca_file.empty()) {
    ::SSL_CTX_set_default_verify_paths(context.get());
  } else if (::SSL_CTX_load_verify_file(context.get(), tls.ca_file.c_str()) != 1) {
    return bad_file("tls_ca", tls.ca_file);
  }
  if (!tls.certificate_file.empty() &&
      ::SSL_CTX_use_certificate_chain_file(context.get(), tls.certificate_file.c_str()) != 1) {
    return bad_file("tls_cert", tls.certificate_file);
  }
  if (!tls.key_file.empty() &&
      ::SSL_CTX_use_PrivateKey_file(context.get(), tls.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return bad_file("tls_key", tls.key_file);
  }
  return context;
}

bool is_ip_address(const std::string& host) noexcept {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  return ::inet_pton(AF_INET, host.c_str(), parsed.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), parsed.data()) == 1;
}

bool expect_host(SSL* ssl, const std::string& host) noexcept {
  if (is_ip_address(host)) {
    return ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(ssl), host.c_str()) == 1;
  }
  return ::SSL_set1_host(ssl, host.c_str()) == 1;
}

// Lets OpenSSL use our socket. Its own socket BIO writes with write(), which raises SIGPIPE in the
// process that uses this library.
WireSocket& socket_of(BIO* bio) noexcept { return *static_cast<WireSocket*>(::BIO_get_data(bio)); }

int write_bytes(BIO* bio, const char* bytes, std::size_t size, std::size_t* written) {
  ::BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  const auto sent = socket_of(bio).write({bytes, size});
  *written = sent.value_or(0);
  if (sent && *sent == 0) {
    ::BIO_set_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY);
  }
  return *written > 0 ? 1 : 0;
}

int read_bytes(BIO* bio, char* into, std::size_t size, std::size_t* received) {
  ::BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  const auto got = socket_of(bio).read({into, size});
  *received = got.value_or(0);
  if (got && *got == 0) {
    ::BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
  }
  return *received > 0 ? 1 : 0;
}

long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  // There is nothing to flush, and OpenSSL takes anything but 1 for a failure.
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* make_method() noexcept {
  BIO_METHOD* const method =
      ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "holdfast socket");
  if (method != nullptr) {
    ::BIO_meth_set_write_ex(method, write_bytes);
    ::BIO_meth_set_read_ex(method, read_bytes);
    ::BIO_meth_set_ctrl(method, control);
  }
  return method;
}

// The socket must outlive it. Null: no memory.
BIO* make_socket_bio(WireSocket& socket) noexcept {
  static BIO_METHOD* const kMethod = make_method();
  BIO* const bio = kMethod != nullptr ? ::BIO_new(kMethod) : nullptr;
  if (bio != nullptr) {
    ::BIO_set_data(bio, &socket);
    ::BIO_set_init(bio, 1);
  }
  return bio;
}

}  // namespace

void TlsWire::FreeSsl::operator()(SSL* ssl) const noexcept { ::SSL_free(ssl); }

TlsWire::TlsWire(std::unique_ptr<WireSocket> socket, SslPtr ssl) noexcept
    : socket_(std::move(socket)), ssl_(std::move(ssl)) {}

TlsWire::~TlsWire() = default;

Result<TlsWire::SslPtr> TlsWire::prepare(WireSocket& socket, const TlsOptions& tls,
                                         const std::string& host) {
  ::ERR_clear_error();
  HOLDFAST_TRY_LET(const auto context, make_context(tls));
  SslPtr ssl(::SSL_new(context.get()));
  BIO* const bio = ssl != nullptr ? make_socket_bio(socket) : nullptr;
  if (bio == nullptr) {
    return fail(ErrorCode::unavailable, "TLS cannot be used: " + openssl_reason());
  }
  ::SSL_set_bio(ssl.get(), bio, bio);
  if (!is_ip_address(host)) {
    ::SSL_ctrl(ssl.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
               const_cast<char*>(host.c_str()));
  }
  if (tls.verify == TlsOptions::Verify::full) {
    ::SSL_set_verify(ssl.get(), SSL_VERIFY_PEER, nullptr);
    if (!expect_host(ssl.get(), host)) {
      return fail(ErrorCode::unavailable, "TLS cannot check the host: " + openssl_reason());
    }
  }
  return ssl;
}

Result<std::unique_ptr<TlsWire>> TlsWire::connect(std::unique_ptr<WireSocket> socket,
                                                  const TlsOptions& tls, const std::string& host,
                                                  base::Deadline deadline) {
  HOLDFAST_TRY_LET(auto ssl, prepare(*socket, tls, host));
  std::unique_ptr<TlsWire> wire(new TlsWire(std::move(socket), std::move(ssl)));
  HOLDFAST_TRY(wire->shake_hands(deadline));
  return wire;
}

Result<void> TlsWire::shake_hands(base::Deadline deadline) {
  while (true) {
    const int status = ::SSL_connect(ssl_.get());
    if (status == 1) {
      return {};
    }
    const int wants = ::SSL_get_error(ssl_.get(), status);
    if (wants != SSL_ERROR_WANT_READ && wants != SSL_ERROR_WANT_WRITE) {
      return std::unexpected(failure(status));
    }
    const short events = wants == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    pollfd waiting{.fd = descriptor(), .events = events, .revents = 0};
    if (deadline.expired(base::steady_clock().now()) || !poll_until({&waiting, 1}, deadline)) {
      return fail(ErrorCode::unavailable, "the server did not answer the TLS handshake in time");
    }
  }
}

base::Error TlsWire::failure(int status) const {
  const long verdict = ::SSL_get_verify_result(ssl_.get());
  if (verdict != X509_V_OK && ::SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE) {
    ::ERR_clear_error();
    return {ErrorCode::unavailable,
            "the server's certificate is refused: " +
                std::string(::X509_verify_cert_error_string(verdict)) +
                "; check the host's name, and tls_ca if the authority is your own"};
  }
  switch (::SSL_get_error(ssl_.get(), status)) {
    case SSL_ERROR_ZERO_RETURN:
    case SSL_ERROR_SYSCALL: ::ERR_clear_error(); return closed_by_server();
    default: return {ErrorCode::unavailable, "TLS failed: " + openssl_reason()};
  }
}

short TlsWire::read_also_needs() const noexcept {
  const base::MutexLock lock(mutex_);
  return read_needs_write_ ? POLLOUT : 0;
}

Result<std::size_t> TlsWire::read(std::span<char> into) {
  const base::MutexLock lock(mutex_);
  ::ERR_clear_error();
  std::size_t got = 0;
  const int status = ::SSL_read_ex(ssl_.get(), into.data(), into.size(), &got);
  if (status == 1) {
    read_needs_write_ = false;
    return got;
  }
  const int wants = ::SSL_get_error(ssl_.get(), status);
  read_needs_write_ = wants == SSL_ERROR_WANT_WRITE;
  if (wants == SSL_ERROR_WANT_READ || wants == SSL_ERROR_WANT_WRITE) {
    return 0;
  }
  return std::unexpected(failure(status));
}

Result<std::size_t> TlsWire::write(std::string_view bytes) {
  const base::MutexLock lock(mutex_);
  ::ERR_clear_error();
  std::size_t sent = 0;
  const int status = ::SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent);
  if (status == 1) {
    return sent;
  }
  const int wants = ::SSL_get_error(ssl_.get(), status);
  if (wants == SSL_ERROR_WANT_READ || wants == SSL_ERROR_WANT_WRITE) {
    return 0;
  }
  return std::unexpected(failure(status));
}

}  // namespace holdfast::engines::redis::internal
