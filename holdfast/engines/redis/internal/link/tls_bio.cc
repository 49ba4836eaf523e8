#include <holdfast/engines/redis/internal/link/tls_bio.h>

#include <openssl/bio.h>

namespace holdfast::engines::redis::internal {

namespace {

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

}  // namespace

BIO* make_socket_bio(WireSocket& socket) noexcept {
  static BIO_METHOD* const kMethod = make_method();
  BIO* const bio = kMethod != nullptr ? ::BIO_new(kMethod) : nullptr;
  if (bio != nullptr) {
    ::BIO_set_data(bio, &socket);
    ::BIO_set_init(bio, 1);
  }
  return bio;
}

}  // namespace holdfast::engines::redis::internal
