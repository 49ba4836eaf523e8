#pragma once

#include <atomic>

#include <mongoc/mongoc.h>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>

namespace holdfast::engines::mongodb::internal {

// Until when the sockets of one client may wait. The driver has a time-out for all its commands
// together; this is how each of ours ends by its own deadline.
struct Patience {
  base::Deadline deadline = base::Deadline::never();
  // Ends every wait at once, from any thread. May be null.
  const std::atomic<bool>* stop = nullptr;

  [[nodiscard]] bool is_over() const {
    return deadline.expired(base::steady_clock().now()) ||
           (stop != nullptr && stop->load(std::memory_order_relaxed));
  }
};

// Connects to a host, by TCP or a unix socket, and returns the connection as a stream of the
// driver's, which then owns it. `patience` outlives the stream, and limits every wait on it. For
// one thread. Null, and why, if there is no connection.
[[nodiscard]] mongoc_stream_t* connect_stream(const mongoc_host_list_t& host,
                                              base::Duration connect_timeout,
                                              const Patience& patience, bson_error_t* error);

}  // namespace holdfast::engines::mongodb::internal
