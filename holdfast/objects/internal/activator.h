#pragma once

#include <stop_token>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/objects/internal/activation.h>
#include <holdfast/objects/internal/host_state.h>
#include <holdfast/objects/internal/ownership.h>
#include <holdfast/objects/outcome.h>

namespace holdfast::objects::internal {

struct Active {
  Activation* activation;
  CreateOutcome how;
};

// Brings objects into memory and removes them. Thread-safe; every function is called under the
// exclusive lock of the object's key, and waits for the store or for the owner of the object.
class Activator {
 public:
  explicit Activator(HostState& host);

  // Returns the active object, or activates it: acquires, constructs, loads and runs its hook, and
  // leaves nothing behind if one of these fails.
  [[nodiscard]] base::Result<Active> activate(ObjectType& type, std::string_view id);
  // Removes the object from memory and then from the store; releases its lease.
  [[nodiscard]] base::Result<EraseOutcome> erase(ObjectType& type, std::string_view id);
  // Removes the object from memory without saving; releases its lease. Logs a loss, if it was lost.
  // Harmless if the object is not active.
  void drop(ObjectType& type, std::string_view id);

 private:
  [[nodiscard]] std::stop_token stop_of_waits() const;
  // Loads the object from the store, or makes it new.
  [[nodiscard]] base::Result<CreateOutcome> fill(Activation& activation) const;
  [[nodiscard]] base::Result<void> read(Activation& activation, std::string_view text) const;

  HostState& host_;
  const Ownership ownership_;
};

}  // namespace holdfast::objects::internal
