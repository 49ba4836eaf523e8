#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>

#include "apps/holdfast/torture/endpoint.h"
#include "apps/holdfast/waiting/descriptor.h"

namespace holdfast::cli::torture {

// A proxy on a port of the loopback, between the workers and the server of the store, that can be a
// bad network. One thread, which polls its descriptors; it never blocks.
class Proxy {
 public:
  // Looks the server up, which may block, and opens a port.
  [[nodiscard]] static base::Result<std::unique_ptr<Proxy>> open(const Endpoint& server);

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  // Adds the descriptors to wait for.
  void add_to(std::vector<pollfd>& descriptors) const;
  // Passes on what has come and is due.
  void serve(base::TimePoint now);

  // Closes all connections. New ones work.
  void cut();
  // Lets all that comes from now on wait so long; zero ends that.
  void delay(base::Duration time) { delay_ = time; }
  // Passes nothing on until resume(), and keeps the connections.
  void hang() { hangs_ = true; }
  void resume() { hangs_ = false; }
  // Throws so many answers of the server away, each with its connection.
  void drop_replies(unsigned count) { replies_to_drop_ = count; }

 private:
  struct Chunk {
    base::TimePoint due;
    std::string bytes;
  };
  // One direction of a connection.
  struct Flow {
    std::deque<Chunk> chunks{};
    std::size_t waiting = 0;  // bytes
    bool has_ended = false;   // its sender has closed it
  };
  struct Pair {
    Descriptor client;
    Descriptor server;
    Flow requests{};
    Flow replies{};
  };
  enum class Direction : std::uint8_t { request, reply };

  Proxy(Descriptor listener, std::uint16_t port, std::string address, int family);

  void accept_all();
  // Return whether the connection goes on.
  bool serve(Pair& pair, base::TimePoint now);
  bool read(int from, Flow& flow, Direction direction, base::TimePoint now);
  static bool write(int to, Flow& flow, base::TimePoint now);

  const Descriptor listener_;
  const std::uint16_t port_;
  const std::string address_;  // a sockaddr
  const int family_;
  std::list<Pair> pairs_;
  base::Duration delay_{};
  bool hangs_ = false;
  unsigned replies_to_drop_ = 0;
};

}  // namespace holdfast::cli::torture
