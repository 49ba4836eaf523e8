#include <holdfast/engines/redis/internal/connection/poll_waker.h>

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace holdfast::engines::redis::internal {

PollWaker::PollWaker() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) {
    throw std::system_error(errno, std::generic_category(), "eventfd");
  }
}

PollWaker::~PollWaker() { ::close(descriptor_); }

void PollWaker::wake() const noexcept { ::eventfd_write(descriptor_, 1); }

void PollWaker::sleep(const Wire* wire, short also, base::Deadline deadline) const noexcept {
  std::array<pollfd, 2> descriptors{pollfd{.fd = descriptor_, .events = POLLIN, .revents = 0},
                                    // poll() ignores a negative descriptor.
                                    pollfd{.fd = -1, .events = POLLIN, .revents = 0}};
  if (wire != nullptr) {
    descriptors[1].fd = wire->descriptor();
    descriptors[1].events = static_cast<short>(POLLIN | also | wire->read_also_needs());
  }
  if (poll_until(descriptors, deadline) && descriptors[0].revents != 0) {
    eventfd_t wakes = 0;
    ::eventfd_read(descriptor_, &wakes);
  }
}

}  // namespace holdfast::engines::redis::internal
