#pragma once

#include <cstdint>
#include <optional>

#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/outcome.h>

namespace holdfast::recipes {

// The parts that the Semaphore of threads and that of coroutines share, for authors of another
// face. A value; no I/O.
class SemaphoreRules {
 public:
  // Throws base::Exception with invalid_argument for a capacity of zero.
  explicit SemaphoreRules(std::uint32_t capacity);

  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  // Returns the options for acquiring so many permits.
  [[nodiscard]] locks::AcquireOptions options_for(std::uint32_t permits,
                                                  locks::AcquireOptions options) const;
  // Returns how many permits are free in this state of the name; conflict if its capacity is
  // another one.
  [[nodiscard]] base::Result<std::uint32_t> free_in(
      const base::Result<std::optional<store::NameState>>& state) const;

 private:
  std::uint32_t capacity_;
};

}  // namespace holdfast::recipes
