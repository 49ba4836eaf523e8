#include <holdfast/engines/redis/internal/link/wire.h>

#include <cerrno>
#include <ctime>
#include <string>
#include <system_error>

#include <holdfast/base/try.h>

namespace holdfast::engines::redis::internal {

bool poll_until(std::span<pollfd> descriptors, base::Deadline deadline) noexcept {
  while (true) {
    timespec wait{};
    if (!deadline.is_never()) {
      const base::Duration left = deadline.remaining(base::steady_clock().now());
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
      wait.tv_sec = static_cast<std::time_t>(seconds.count());
      wait.tv_nsec = static_cast<long>((left - seconds).count());
    }
    const int ready = ::ppoll(descriptors.data(), descriptors.size(),
                              deadline.is_never() ? nullptr : &wait, nullptr);
    if (ready >= 0) {
      return ready > 0;
    }
    if (errno != EINTR) {
      return true;  // the read or write that follows will say what is wrong
    }
  }
}

base::Result<void> write_all(Wire& wire, std::string_view bytes, base::Deadline deadline) {
  while (!bytes.empty()) {
    HOLDFAST_TRY_LET(const auto sent, wire.write(bytes));
    bytes.remove_prefix(sent);
    pollfd waiting{.fd = wire.descriptor(), .events = POLLOUT, .revents = 0};
    const bool is_late = !bytes.empty() && deadline.expired(base::steady_clock().now());
    if (is_late || (sent == 0 && !poll_until({&waiting, 1}, deadline))) {
      return base::fail(base::ErrorCode::unavailable, "it did not take what we sent in time");
    }
  }
  return {};
}

base::Error closed_by_server() {
  return {base::ErrorCode::unavailable, "the server closed the connection"};
}

base::Error connection_failed(int error_number) {
  return {base::ErrorCode::unavailable,
          "the connection failed: " + std::generic_category().message(error_number)};
}

}  // namespace holdfast::engines::redis::internal
