#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/local/key_guard.h>
#include <holdfast/local/key_wait.h>
#include <holdfast/objects/host_options.h>
#include <holdfast/objects/internal/call_gate.h>
#include <holdfast/objects/internal/lost_list.h>
#include <holdfast/objects/internal/type_registry.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::objects {
class ObjectHost;
}  // namespace holdfast::objects

namespace holdfast::objects::internal {

// The state that the parts of a host share. Its address identifies the host in LockOrder and Frame.
struct HostState {
  // Constant after construction.
  ObjectHost& face;
  const std::shared_ptr<store::ObjectRepository> repository;
  const HostOptions options;

  CallGate gate{};
  std::stop_source stopping{};  // ends the waits of operations that have not begun
  LostList lost{};
  std::atomic<std::size_t> active = 0;  // objects in memory, or about to be
  std::atomic<std::uint64_t> saved = 0;
  std::atomic<std::uint64_t> failed_saves = 0;
  std::atomic<std::uint64_t> lost_objects = 0;
  std::atomic<std::uint64_t> idle_objects = 0;
  // Last, so that the objects are destroyed first: their leases may still report a loss.
  TypeRegistry types{};

  // Returns the deadline of one request to the repository.
  [[nodiscard]] base::Deadline store_deadline() const {
    return base::Deadline::after(base::steady_clock(), options.store_wait);
  }
  // Return the wait for an object's lock. A stop ends the wait of an operation that has not begun;
  // one that is nested in a running call, or at its end, belongs to that call.
  [[nodiscard]] local::KeyWait wait_to_begin() const;
  [[nodiscard]] local::KeyWait wait_to_end() const;
};

// Lock an object, for as long as the wait says (default: wait_to_begin); then timed_out or
// cancelled.
[[nodiscard]] base::Result<local::SharedGuard> share_key(ObjectType& type, std::string_view id,
                                                         const HostState& host);
[[nodiscard]] base::Result<local::SharedGuard> share_key(ObjectType& type, std::string_view id,
                                                         const local::KeyWait& wait);
[[nodiscard]] base::Result<local::ExclusiveGuard> own_key(ObjectType& type, std::string_view id,
                                                          const HostState& host);
[[nodiscard]] base::Result<local::ExclusiveGuard> take_turn(ObjectType& type, std::string_view id,
                                                            const HostState& host);
// `lock` is one of the type's locks.
[[nodiscard]] base::Result<local::ExclusiveGuard> own(local::KeyLock& lock, const ObjectType& type,
                                                      std::string_view id,
                                                      const local::KeyWait& wait);

// Marks a change that is not saved.
void mark_dirty(Activation& activation);
// Marks that another process owns the object, or may own it.
void mark_lost(Activation& activation);

}  // namespace holdfast::objects::internal
