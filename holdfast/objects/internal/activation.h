#pragma once

#include <atomic>
#include <cstddef>
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

// The lease of an object that this process owns.
struct OwnedLease {
  explicit OwnedLease(locks::Lock its_lock) : lock(std::move(its_lock)), token(lock.token()) {}

  locks::Lock lock;
  const base::FencingToken token;
  std::optional<std::stop_callback<std::function<void()>>> on_lost{};
};

// One object in memory. It is in the table of its type from the end of its creation to the start of
// its removal; both happen under the exclusive lock of its key, so a holder of that key, in either
// mode, may keep a pointer to it.
struct alignas(64) Activation {
  Activation(HostState& its_host, ObjectType& its_type, std::string its_id,
             std::unique_ptr<Object> its_object, locks::Lock its_lease)
      : id(std::move(its_id)),
        lease(its_lease.holds() ? std::make_unique<OwnedLease>(std::move(its_lease)) : nullptr),
        object(std::move(its_object)),
        host(its_host),
        type(its_type) {
    object->activation_ = this;
  }
  ~Activation() {
    // First: this waits for a running callback, which uses the other members.
    if (lease != nullptr) lease->on_lost.reset();
  }
  Activation(const Activation&) = delete;
  Activation& operator=(const Activation&) = delete;

  // Returns whether it may be called: no other process owns it.
  [[nodiscard]] bool usable() const {
    return !lost.load(std::memory_order_acquire) &&
           (lease == nullptr || lease->lock.check().has_value());
  }
  [[nodiscard]] base::FencingToken token() const {
    return lease != nullptr ? lease->token : base::FencingToken(0);
  }

  // A call needs these, one cache line; those that are const are constant after construction.
  const std::string id;
  const std::unique_ptr<OwnedLease> lease;  // null without a provider
  const std::unique_ptr<Object> object;     // destroyed before its lease is released
  std::atomic<base::Duration::rep> last_used = 0;
  // Set before a change may be unsaved, cleared before `to_data`: read and written in one step, so
  // that either the save sees the change or the change sees the cleared flag.
  std::atomic<bool> dirty = false;
  std::atomic<bool> lost = false;

  // Protected by the table: whether the object is in it, and the list of objects to save.
  bool active = false;
  bool listed = false;
  Activation* next = nullptr;
  Activation* previous = nullptr;
  std::size_t hash = 0;  // of the id; constant once in the table

  HostState& host;
  ObjectType& type;
};

}  // namespace holdfast::objects::internal
