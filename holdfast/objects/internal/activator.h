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

// Brings objects into memory and takes them out of it. Thread-safe; every function is called under
// the exclusive lock of the object's key, and waits for the store or the owner of the object.
class Activator {
 public:
  explicit Activator(HostState& host);

  // The object that is there, or else made: owned, loaded, constructed and told, in this order, and
  // nothing is left of it if one of them fails.
  [[nodiscard]] base::Result<Active> activate(ObjectType& type, std::string_view id);
  // Out of memory and, before that returns, out of the store; its lease is given back.
  [[nodiscard]] base::Result<EraseOutcome> erase(ObjectType& type, std::string_view id);
  // Out of memory as it is; its lease is given back. Logs that it was lost, if it was. Harmless if
  // it is not there.
  void drop(ObjectType& type, std::string_view id);

 private:
  [[nodiscard]] std::stop_token stop_of_waits() const;
  // From the store, or new.
  [[nodiscard]] base::Result<CreateOutcome> fill(Activation& activation) const;
  [[nodiscard]] base::Result<void> read(Activation& activation, std::string_view text) const;

  HostState& host_;
  const Ownership ownership_;
};

}  // namespace holdfast::objects::internal
