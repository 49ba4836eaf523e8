#include <holdfast/objects/internal/ownership.h>

#include <optional>
#include <string>
#include <utility>

#include <holdfast/base/printable.h>

namespace holdfast::objects::internal {

namespace {

using base::ErrorCode;
using base::fail;

// Returns the owner, such as "user@host:42", according to the store at this moment.
std::string owner_of(locks::LockProvider& provider, std::string_view name) {
  const auto state = provider.look(name);
  if (!state || !state->has_value() || (*state)->holders.empty()) {
    return "an unknown owner";
  }
  return "'" + base::printable((*state)->holders.front().owner) + "'";
}

}  // namespace

Ownership::Ownership(OwnershipOptions options) : options_(std::move(options)) {}

base::Result<locks::Lock> Ownership::acquire(const ObjectType& type, std::string_view id,
                                             const std::stop_token& stop) const {
  if (!needed()) {
    return locks::Lock();
  }
  const std::string name = options_.prefix + type.name + "/" + std::string(id);
  auto lock = options_.provider->try_acquire(
      name, {.ttl = options_.ttl, .wait = options_.wait, .stop = stop, .reason = "active object"});
  if (!lock) {
    return fail(lock.error().code,
                "no ownership of " + type.describe(id) + ": " + lock.error().message);
  }
  if (!lock->has_value()) {
    return fail(ErrorCode::busy, type.describe(id) + " is active at " +
                                     owner_of(*options_.provider, name) +
                                     "; call it there, or wait until it is idle");
  }
  return **std::move(lock);
}

}  // namespace holdfast::objects::internal
