#pragma once

#include <stop_token>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/locks/lock.h>
#include <holdfast/objects/host_options.h>
#include <holdfast/objects/internal/object_type.h>

namespace holdfast::objects::internal {

// Acquires objects for this process. Thread-safe.
class Ownership {
 public:
  explicit Ownership(OwnershipOptions options);

  [[nodiscard]] bool needed() const noexcept { return options_.provider != nullptr; }
  // Returns the lease of an object, or a handle that holds nothing if no lease is needed. If the
  // object is still active elsewhere after OwnershipOptions::wait, ErrorCode::busy with its owner.
  [[nodiscard]] base::Result<locks::Lock> acquire(const ObjectType& type, std::string_view id,
                                                  const std::stop_token& stop) const;

 private:
  const OwnershipOptions options_;
};

}  // namespace holdfast::objects::internal
