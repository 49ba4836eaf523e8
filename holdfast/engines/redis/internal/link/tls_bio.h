#pragma once

#include <holdfast/engines/redis/internal/link/wire_socket.h>

using BIO = struct bio_st;  // OpenSSL's own name

namespace holdfast::engines::redis::internal {

// Lets OpenSSL use our socket. Its own socket BIO writes with write(), which raises SIGPIPE in the
// process of whoever uses this library. The socket must outlive it. Null: no memory.
[[nodiscard]] BIO* make_socket_bio(WireSocket& socket) noexcept;

}  // namespace holdfast::engines::redis::internal
