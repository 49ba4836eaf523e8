#include <holdfast/objects/internal/host_core.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/objects/internal/call_chain.h>

namespace holdfast::objects::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// An operation that needs an object for itself, with the key of the object.
struct Alone {
  Operation operation;
  Exclusive key{};

  // A method that requests the key of its own object would wait for itself.
  Result<void> begin(ObjectType& type, std::string_view id, std::string_view what) {
    HOLDFAST_TRY(operation.enter());
    if (Frame::of(type, id) != nullptr) {
      return fail(
          ErrorCode::invalid_argument,
          std::string(what) + " " + type.describe(id) +
              " from its own method or hook would wait for itself; do it when that is over");
    }
    HOLDFAST_TRY_LET(key, operation.own_key(type, id));
    return {};
  }
};

// Logs the objects that leave memory unsaved; call it when no operation is running.
void log_lost(const ObjectType& type, const base::Logger& logger) {
  for (const std::string& id : type.table.listed_ids()) {
    const Activation* const activation = type.table.find(id);
    if (activation != nullptr && activation->lost && activation->dirty) {
      logger.warn(type.describe(id) + " was lost to another process; what was not saved is gone");
    }
  }
}

void add(local::KeyLockStats& sum, const local::KeyLockStats& one) {
  sum.acquisitions += one.acquisitions;
  sum.contended += one.contended;
  sum.timed_out += one.timed_out;
  sum.cancelled += one.cancelled;
  sum.wait_time += one.wait_time;
  sum.longest_wait = std::max(sum.longest_wait, one.longest_wait);
}

}  // namespace

HostCore::HostCore(ObjectHost& its_face, std::shared_ptr<store::ObjectRepository> its_repository,
                   HostOptions its_options)
    : face(its_face), repository(std::move(its_repository)), options(std::move(its_options)) {}

Result<CreateStatus> HostCore::create(const Found& found, std::string_view id,
                                      const Limits& limits) {
  HOLDFAST_TRY_LET(ObjectType* const type, found);
  Alone alone{Operation(*this, limits)};
  HOLDFAST_TRY(alone.begin(*type, id, "creating"));
  HOLDFAST_TRY_LET(const auto there, activator.activate(*type, id, alone.operation));
  return there.how;
}

Result<EraseStatus> HostCore::erase(const Found& found, std::string_view id, const Limits& limits) {
  HOLDFAST_TRY_LET(ObjectType* const type, found);
  Alone alone{Operation(*this, limits)};
  HOLDFAST_TRY(alone.begin(*type, id, "erasing"));
  return activator.erase(*type, id, alone.operation);
}

Result<SaveStatus> HostCore::save(const Found& found, std::string_view id, const Limits& limits) {
  HOLDFAST_TRY_LET(ObjectType* const type, found);
  Operation operation(*this, limits);
  HOLDFAST_TRY(operation.enter());
  return writer.save(*type, id, operation);
}

Result<SaveStatus> HostCore::deactivate(const Found& found, std::string_view id,
                                        const Limits& limits) {
  HOLDFAST_TRY_LET(ObjectType* const type, found);
  Alone alone{Operation(*this, limits)};
  HOLDFAST_TRY(alone.begin(*type, id, "deactivating"));
  Activation* const activation = type->table.find(id);
  if (activation == nullptr) {
    return SaveStatus::gone;
  }
  auto result = writer.save(*activation, Turn::held, alone.operation);
  if (result || activation->lost) {
    activator.drop(*type, id);
  }
  return result;
}

Result<std::size_t> HostCore::save_all(const Limits& limits) {
  Operation operation(*this, limits);
  HOLDFAST_TRY(operation.enter());
  return writer.save_listed(operation);
}

Result<void> HostCore::stop(base::Deadline deadline) {
  if (Frame::innermost(this) != nullptr) {
    return fail(ErrorCode::invalid_argument,
                "stopping the host from a method or hook of one of its objects would wait for "
                "itself");
  }
  const base::MutexLock one_at_a_time(stop_mutex);
  stopping.request_stop();
  if (!gate.close(deadline)) {
    return fail(ErrorCode::timed_out, std::to_string(gate.inside()) +
                                          " calls still run; the host takes no new ones. Stop it "
                                          "again when they have ended");
  }
  caretaker.stop();
  // From here on no other operation is running.
  Operation operation(*this);
  operation.commit();
  const auto result = writer.save_listed(operation);
  for (ObjectType* const type : types.in_use()) {
    log_lost(*type, options.logger);
    type->table.clear_saved();
  }
  if (active != 0) {
    return fail(result ? ErrorCode::unavailable : result.error().code,
                std::to_string(active) + " objects are not saved: " +
                    (result ? "they changed meanwhile" : result.error().message) +
                    ". Stop the host again to save them");
  }
  if (!result) {
    return fail(result.error().code,
                "the host is stopped, but not all was saved: " + result.error().message);
  }
  return {};
}

HostStats HostCore::stats() const {
  HostStats stats{.active = active,
                  .saved = saved,
                  .failed_saves = failed_saves,
                  .lost = lost_objects,
                  .idle = idle_objects};
  for (const ObjectType* const type : types.in_use()) {
    for (const local::KeyLock* const lock : {&type->keys, &type->turns, &type->saves}) {
      stats.keys_in_use += lock->size();
      add(stats.locks, lock->stats());
    }
  }
  return stats;
}

std::vector<HeldObject> HostCore::held() const {
  std::vector<HeldObject> all;
  for (const ObjectType* const type : types.in_use()) {
    std::map<std::string, HeldObject> by_id;
    for (const local::KeyLock* const lock : {&type->keys, &type->turns, &type->saves}) {
      for (const local::KeyState& state : lock->snapshot()) {
        HeldObject& object = by_id[state.key];
        object.waiting += state.waiting_exclusive + state.waiting_shared;
        if (lock == &type->keys) {
          object.users = state.readers;
          object.exclusive = state.exclusive;
        }
      }
    }
    for (auto& [id, object] : by_id) {
      object.type = type->name;
      object.id = id;
      all.push_back(std::move(object));
    }
  }
  return all;
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
