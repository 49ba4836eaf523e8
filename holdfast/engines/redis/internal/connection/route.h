#pragma once

#include <functional>
#include <memory>
#include <string>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/connection/wire.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis::internal {

// The way to a store's server, which may be another one each time. All connections of a store are
// opened through one route. Thread-safe.
class Route {
 public:
  // A connection that is ready for commands.
  struct Opened {
    std::unique_ptr<Wire> wire;
    std::string address;  // of the server at its other end: see server_address()
  };
  // Called with the address of the server that is the right one now, by a thread of the route. It
  // neither blocks nor calls the route.
  using OnMove = std::function<void(const std::string& address)>;

  Route() = default;
  Route(const Route&) = delete;
  Route& operator=(const Route&) = delete;
  virtual ~Route() = default;

  // Blocks until a connection to the right server is open, or the deadline has come. Errors are
  // those of connect_and_greet().
  [[nodiscard]] virtual base::Result<Opened> open(base::Deadline deadline) = 0;

  // Before the first open(): `on_move` is called when another server has become the right one, as
  // far as that is noticed; maybe several times for one move. A route with a fixed end calls
  // nothing.
  virtual void notify(OnMove on_move) { static_cast<void>(on_move); }
  // Calls back no more, and need not open connections any more; returns when no callback is
  // running. Not to be called by a callback.
  virtual void stop_notifying() {}
};

// Returns the route that the options describe: to one address, or to the master that Sentinels
// name.
[[nodiscard]] std::shared_ptr<Route> route_to(const RedisOptions& options);

}  // namespace holdfast::engines::redis::internal
