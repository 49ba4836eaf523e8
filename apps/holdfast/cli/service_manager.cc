#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "apps/holdfast/cli/environment.h"
#include "apps/holdfast/cli/service_manager.h"
#include "apps/holdfast/waiting/descriptor.h"

namespace holdfast::cli {

namespace {

// Returns the number in a variable; zero if there is none.
std::uint64_t number(const char* variable) {
  const std::string text = environment(variable);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A status is one line.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
  ServiceManager manager;
  manager.socket_ = environment("NOTIFY_SOCKET");
  const std::uint64_t watched = number("WATCHDOG_PID");
  const bool is_us = watched == 0 || watched == static_cast<std::uint64_t>(getpid());
  if (const std::uint64_t limit = number("WATCHDOG_USEC"); limit > 0 && is_us) {
    manager.watched_ = true;
    // Half of it, which sd_watchdog_enabled(3) recommends. At most a day, which any duration can
    // hold.
    constexpr std::uint64_t kDay = std::chrono::microseconds(std::chrono::hours(24)).count();
    manager.interval_ = std::chrono::microseconds(std::clamp<std::uint64_t>(limit / 2, 1000, kDay));
  }
  for (const char* const variable : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) {
    unsetenv(variable);
  }
  return manager;
}

void ServiceManager::status(std::string_view text) {
  if (text != status_) {
    status_ = text;
    send("STATUS=" + one_line(text));
  }
}

void ServiceManager::ready(std::string_view text) {
  status_ = text;
  ready_ = true;
  send("READY=1\nSTATUS=" + one_line(text));
}

void ServiceManager::alive() {
  if (!ready_) {
    send("EXTEND_TIMEOUT_USEC=30000000");
  }
  if (watched_) {
    send("WATCHDOG=1");
  }
}

void ServiceManager::send(const std::string& message) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) {
    return;
  }
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (address.sun_path[0] == '@') {
    address.sun_path[0] = '\0';  // an abstract one
  }
  const Descriptor descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  // Without a reader there is nobody to tell.
  static_cast<void>(sendto(descriptor.get(), message.data(), message.size(),
                           MSG_NOSIGNAL | MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&address),
                           length));
}

}  // namespace holdfast::cli
