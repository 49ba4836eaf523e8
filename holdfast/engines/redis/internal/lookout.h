#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/engines/redis/internal/link/connection.h>
#include <holdfast/engines/redis/internal/link/doorbell.h>
#include <holdfast/store/listener.h>

namespace holdfast::engines::redis::internal {

// The connection of a subscriber, and who looks out for what comes on it: the subscriber's own
// thread, which is the host, or a guest in its place, who listens while it waits for a hint. What
// comes then does not wake the host, nor does a guest that comes or goes.
//
// Thread-safe. One at a time works on the connection, under the mutex, and sleeps without it.
// Before anybody sleeps, all that came has been read: what a wire has decrypted, no poll() would
// show.
//
// Throws std::system_error if there is no descriptor left. In a forked child nobody listens.
class Lookout final : public store::Listener {
 public:
  using Work = std::function<base::Result<void>(Connection& connection)>;

  // `read` reads until nothing comes any more, and handles what came.
  explicit Lookout(Work read);
  ~Lookout();

  // The host's. An open lookout is closed before it is opened again. Work after open() begins with
  // `read`; it fails, too, after a guest's has failed.
  [[nodiscard]] base::Result<void> open(std::unique_ptr<Wire> wire);
  [[nodiscard]] base::Result<void> work(const Work& work);
  void close() noexcept;
  // Until something has come that no guest hears, until it is roused, or until the deadline.
  void sleep(base::Deadline deadline) noexcept;
  // Any thread.
  void rouse_host() noexcept { host_roused_.ring(); }

  // A guest's.
  [[nodiscard]] bool begin() noexcept override;
  [[nodiscard]] bool hear(base::Deadline deadline) override;
  void end() noexcept override;
  void rouse() noexcept override;

 private:
  using Guard = std::unique_lock<std::mutex>;
  using ConnectionPtr = std::shared_ptr<Connection>;

  // For which events of the connection the host is woken from now on.
  void show_host(std::uint32_t events) noexcept;

  // Constant after construction.
  const base::ProcessMark process_;
  const Work read_;
  const Doorbell host_roused_;
  const Doorbell guest_roused_;
  const int shown_to_host_;  // epoll: the connection, unless a guest is there; last, to be closed

  std::mutex mutex_;
  // Protected by mutex_.
  ConnectionPtr connection_;
  std::uint32_t shown_events_ = 0;
  std::optional<base::Error> failure_;  // what a guest met
  // What the guest listens to, if there is one; changed by itself only. Keeps the socket from being
  // closed, and its number from being used again, while the guest sleeps on it.
  ConnectionPtr guests_;
};

}  // namespace holdfast::engines::redis::internal
