#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/intrusive_list.h>
#include <holdfast/locks/lock.h>
#include <holdfast/objects/object.h>

namespace holdfast::objects::internal {

struct HostCore;
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
  // Returns an activation in a block of its type, without a lease and an object yet; null if the
  // host has as many as it may.
  [[nodiscard]] static std::unique_ptr<Activation> make(HostCore& host, ObjectType& type,
                                                        std::string_view id);
  // Makes the object: behind this activation, if its type has room for it there. Throws what its
  // constructor throws.
  void make_object();
  ~Activation();
  static void operator delete(Activation* activation, std::destroying_delete_t);
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

  // A call needs these, one cache line; the first three are constant once it is in the table.
  const std::string id;
  std::unique_ptr<OwnedLease> lease;  // null without a provider
  Object* object = nullptr;           // destroyed before its lease is released
  std::atomic<base::Duration::rep> last_used = 0;
  // Set before a change may be unsaved, cleared before `to_data`: read and written in one step, so
  // that either the save sees the change or the change sees the cleared flag.
  std::atomic<bool> dirty = false;
  std::atomic<bool> lost = false;

  // Protected by the table: whether the object is in it, and in its list of objects to save.
  bool active = false;
  bool listed = false;
  base::ListHook<Activation> to_save{};
  std::size_t hash = 0;  // of the id; constant once in the table

  HostCore& host;
  ObjectType& type;

 private:
  Activation(HostCore& its_host, ObjectType& its_type, std::string its_id) noexcept
      : id(std::move(its_id)), host(its_host), type(its_type) {}
};

}  // namespace holdfast::objects::internal
