#pragma once

#include <string>
#include <string_view>

#include <holdfast/base/clock.h>

namespace holdfast::cli {

// The service manager that started this process, told by the datagrams of sd_notify(3) how the
// service fares. Does nothing where there is none. One thread.
class ServiceManager {
 public:
  // Makes one that gets no messages.
  ServiceManager() = default;

  // Finds it by NOTIFY_SOCKET, and the watchdog by WATCHDOG_USEC, and removes both from the
  // environment: the command is not the service's main process.
  [[nodiscard]] static ServiceManager from_environment();

  // Tells how the service fares, if that has changed; `ready` also ends its start.
  void status(std::string_view text);
  void ready(std::string_view text);
  // Says that this process is alive and, until it is ready, that its start takes longer. To be
  // called at least every `interval`.
  void alive();

  // Returns the time between two calls of `alive`: base::Duration::max() if none is needed.
  [[nodiscard]] base::Duration interval() const noexcept { return interval_; }

 private:
  void send(const std::string& message) const;

  std::string socket_;
  std::string status_;
  base::Duration interval_ = base::Duration::max();
  bool watched_ = false;
  bool ready_ = false;
};

}  // namespace holdfast::cli
