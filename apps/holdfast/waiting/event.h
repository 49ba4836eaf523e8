#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "apps/holdfast/waiting/descriptor.h"

namespace holdfast::cli {

// Something that happens once, as a file descriptor that is readable from then on. Any thread sets
// it. Throws std::system_error where there are no more descriptors.
class Event {
 public:
  Event() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_.get() < 0) {
      throw std::system_error(errno, std::generic_category(), "eventfd");
    }
  }

  void set() const noexcept {
    const std::uint64_t one = 1;
    // Fails only if it was set very often before, and then it is set.
    static_cast<void>(write(descriptor_.get(), &one, sizeof one) == sizeof one);
  }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
};

}  // namespace holdfast::cli
