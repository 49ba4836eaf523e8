#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/lock.h>
#include <holdfast/objects/object.h>

namespace holdfast::objects::internal {

struct HostState;
struct ObjectType;

// One object in memory. It is in the table of its type from the end of its creation to the start of
// its removal; both happen under the exclusive lock of its key, so a holder of that key, in either
// mode, may keep a pointer to it.
struct Activation {
  Activation(HostState& its_host, ObjectType& its_type, std::string its_id,
             std::unique_ptr<Object> its_object, locks::Lock its_lease)
      : host(its_host),
        type(its_type),
        id(std::move(its_id)),
        lease(std::move(its_lease)),
        token(lease.holds() ? lease.token() : base::FencingToken(0)),
        object(std::move(its_object)) {
    object->activation_ = this;
  }
  Activation(const Activation&) = delete;
  Activation& operator=(const Activation&) = delete;

  // Returns whether it may be called: no other process owns it.
  [[nodiscard]] bool usable() const {
    return !lost.load(std::memory_order_acquire) && (!lease.holds() || lease.check().has_value());
  }

  // Constant after construction.
  HostState& host;
  ObjectType& type;
  const std::string id;
  locks::Lock lease;  // holds nothing without a provider
  const base::FencingToken token;
  const std::unique_ptr<Object> object;

  // Set before a change may be unsaved, cleared before `to_data`: read and written in one step, so
  // that either the save sees the change or the change sees the cleared flag.
  std::atomic<bool> dirty = false;
  std::atomic<bool> lost = false;
  std::atomic<base::Duration::rep> last_used = 0;

  // The list of objects to save; protected by the table.
  bool listed = false;
  Activation* next = nullptr;
  Activation* previous = nullptr;

  // Last, so that it is destroyed first: its destructor waits for a running callback.
  std::optional<std::stop_callback<std::function<void()>>> on_lost;
};

}  // namespace holdfast::objects::internal
