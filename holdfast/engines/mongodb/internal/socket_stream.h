#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include <mongoc/mongoc.h>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>

namespace holdfast::engines::mongodb::internal {

// The longest wait of one client's sockets, and the most bytes that they may receive. The driver
// has limits for all its commands together; with these, each of ours ends by its own deadline and
// in bounded memory.
struct Patience {
  // The most that a server may send in one call: more than the largest reply of a sound server.
  static constexpr std::size_t kMostBytes = std::size_t{64} * 1024 * 1024;

  base::Deadline deadline = base::Deadline::never();
  std::size_t bytes_left = kMostBytes;
  // Ends every wait at once, from any thread. May be null.
  const std::atomic<bool>* stop = nullptr;

  [[nodiscard]] bool is_over() const {
    return deadline.expired(base::steady_clock().now()) ||
           (stop != nullptr && stop->load(std::memory_order_relaxed));
  }
};

// Connects to a host, by TCP or a unix socket, and returns the connection as a stream of the
// driver's, which then owns it. `patience` outlives the stream, and limits every wait on it. For
// one thread.
//
// Never returns null: libmongoc before 1.24.3 holds a mutex while it asks for a connection to a
// server that it knows, and locks it again if there is none (CDRIVER-4666). If there is no
// connection, `failure` says why, and every call on the stream fails.
[[nodiscard]] mongoc_stream_t* connect_stream(const mongoc_host_list_t& host,
                                              base::Duration connect_timeout, Patience& patience,
                                              std::string& failure);

// A stream on which every call fails.
[[nodiscard]] mongoc_stream_t* broken_stream(Patience& patience);

}  // namespace holdfast::engines::mongodb::internal
