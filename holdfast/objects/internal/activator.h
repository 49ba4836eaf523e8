#pragma once

#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/locks/lock.h>
#include <holdfast/objects/internal/activation.h>
#include <holdfast/objects/internal/operation.h>
#include <holdfast/objects/outcome.h>

namespace holdfast::objects::internal {

struct Active {
  Activation* activation;
  CreateStatus how;
};

// Brings objects into memory and removes them. Thread-safe; every function is called under the
// exclusive lock of the object's key, and waits for the store or for the owner of the object.
class Activator {
 public:
  explicit Activator(HostCore& host) : host_(host) {}

  // Returns the active object, or activates it: acquires, constructs, loads and runs its hook, and
  // leaves nothing behind if one of these fails.
  [[nodiscard]] base::Result<Active> activate(ObjectType& type, std::string_view id,
                                              const Operation& operation);
  // Removes the object from memory and then from the store; releases its lease.
  [[nodiscard]] base::Result<EraseStatus> erase(ObjectType& type, std::string_view id,
                                                const Operation& operation);
  // Removes the object from memory without saving; releases its lease. Logs a loss, if it was lost.
  // Harmless if the object is not active.
  void drop(ObjectType& type, std::string_view id);

 private:
  // Returns the lease of an object, or a handle that holds nothing if the host has no provider. If
  // the object is still active elsewhere after OwnershipOptions::wait, ErrorCode::busy with its
  // owner.
  [[nodiscard]] base::Result<locks::Lock> acquire(const ObjectType& type, std::string_view id,
                                                  const Operation& operation) const;
  // Loads the object from the store, or makes it new.
  [[nodiscard]] base::Result<CreateStatus> fill(Activation& activation,
                                                const Operation& operation) const;

  HostCore& host_;
};

}  // namespace holdfast::objects::internal
