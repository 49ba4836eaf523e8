#include <holdfast/engines/redis/internal/link/doorbell.h>

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::engines::redis::internal {

Doorbell::Doorbell() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) {
    throw std::system_error(errno, std::generic_category(), "eventfd");
  }
}

Doorbell::~Doorbell() { ::close(descriptor_); }

void Doorbell::ring() const noexcept { ::eventfd_write(descriptor_, 1); }

void Doorbell::clear() const noexcept {
  eventfd_t rings = 0;
  ::eventfd_read(descriptor_, &rings);
}

}  // namespace holdfast::engines::redis::internal
