#pragma once

#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include <holdfast/base/clock.h>

#include "apps/holdfast/waiting/descriptor.h"

namespace holdfast::cli {

// A timer of base::boot_clock() as a file descriptor: it counts suspend, as a lease does. Throws
// std::system_error where there are no more descriptors.
class BootTimer {
 public:
  BootTimer() : descriptor_(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
    if (descriptor_.get() < 0) {
      throw std::system_error(errno, std::generic_category(), "timerfd_create");
    }
  }

  // Makes the descriptor readable from then on; TimePoint::max() is never.
  void arm(base::TimePoint when) const noexcept {
    itimerspec spec{};
    if (when != base::TimePoint::max()) {
      // Zero would mean never.
      const auto since_boot = std::max(when.time_since_epoch(), base::Duration(1));
      const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
      spec.it_value.tv_sec = seconds.count();
      spec.it_value.tv_nsec = (since_boot - seconds).count();
    }
    timerfd_settime(descriptor_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
  }

  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
};

}  // namespace holdfast::cli
