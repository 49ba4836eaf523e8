#include <holdfast/objects/internal/host_state.h>

#include <chrono>
#include <utility>

#include <holdfast/base/saturate.h>
#include <holdfast/objects/internal/call_chain.h>

namespace holdfast::objects::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using local::ExclusiveGuard;
using local::SharedGuard;

std::unexpected<base::Error> gave_up(local::WaitEnd why, const ObjectType& type,
                                     std::string_view id) {
  if (why == local::WaitEnd::cancelled) {
    return fail(ErrorCode::cancelled, "the host stops; " + type.describe(id) + " was not reached");
  }
  return fail(ErrorCode::timed_out,
              type.describe(id) +
                  " was busy all the time: a method takes too long, or methods of objects that "
                  "call each other wait for one another");
}

template <class Guard>
Result<Guard> granted(std::expected<Guard, local::WaitEnd> guard, const ObjectType& type,
                      std::string_view id) {
  if (!guard) {
    return gave_up(guard.error(), type, id);
  }
  return *std::move(guard);
}

}  // namespace

local::KeyWait HostState::wait_to_begin() const {
  local::KeyWait wait = wait_to_end();
  if (Frame::innermost(this) == nullptr) {
    wait.stop = stopping.get_token();
  }
  return wait;
}

local::KeyWait HostState::wait_to_end() const {
  using Clock = std::chrono::steady_clock;
  local::KeyWait wait;
  const auto now = Clock::now();
  // A wait too long to add has no end.
  if (options.key_wait < Clock::time_point::max() - now) {
    wait.until = now + options.key_wait;
  }
  return wait;
}

Result<SharedGuard> share_key(ObjectType& type, std::string_view id, const HostState& host) {
  if (auto guard = type.keys.try_lock_shared(id)) [[likely]] {
    return *std::move(guard);
  }
  return share_key(type, id, host.wait_to_begin());
}

Result<SharedGuard> share_key(ObjectType& type, std::string_view id, const local::KeyWait& wait) {
  return granted(type.keys.lock_shared(id, wait), type, id);
}

Result<ExclusiveGuard> own_key(ObjectType& type, std::string_view id, const HostState& host) {
  if (auto guard = type.keys.try_lock(id)) [[likely]] {
    return *std::move(guard);
  }
  return granted(type.keys.lock(id, host.wait_to_begin()), type, id);
}

Result<ExclusiveGuard> take_turn(ObjectType& type, std::string_view id, const HostState& host) {
  if (auto guard = type.turns.try_lock(id)) [[likely]] {
    return *std::move(guard);
  }
  return granted(type.turns.lock(id, host.wait_to_begin()), type, id);
}

Result<ExclusiveGuard> own(local::KeyLock& lock, const ObjectType& type, std::string_view id,
                           const local::KeyWait& wait) {
  if (auto guard = lock.try_lock(id)) [[likely]] {
    return *std::move(guard);
  }
  return granted(lock.lock(id, wait), type, id);
}

void mark_dirty(Activation& activation) {
  if (!activation.dirty.exchange(true, std::memory_order_acq_rel)) {
    activation.type.table.list(activation);
  }
}

void mark_lost(Activation& activation) {
  if (!activation.lost.exchange(true, std::memory_order_acq_rel)) {
    ++activation.host.lost_objects;
    activation.host.lost.add(activation.type, activation.id);
  }
}

}  // namespace holdfast::objects::internal
