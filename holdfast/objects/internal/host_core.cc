#include <holdfast/objects/internal/host_core.h>

#include <string>
#include <utility>

#include <holdfast/objects/internal/call_chain.h>
#include <holdfast/objects/internal/entrance.h>
#include <holdfast/objects/internal/lock_order.h>

namespace holdfast::objects::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// For operations that need the key exclusively: a method that requests it for its own object would
// wait for itself.
Result<void> check_not_at_work_on(const ObjectType& type, std::string_view id,
                                  std::string_view what) {
  if (Frame::of(type, id) != nullptr) {
    return fail(ErrorCode::invalid_argument,
                std::string(what) + " " + type.describe(id) +
                    " from its own method or hook would wait for itself; do it when that is over");
  }
  return {};
}

}  // namespace

HostCore::HostCore(ObjectHost& face, std::shared_ptr<store::ObjectRepository> repository,
                   HostOptions options)
    : state_{.face = face, .repository = std::move(repository), .options = std::move(options)},
      activator_(state_),
      writer_(state_),
      caretaker_(state_, activator_, writer_) {}

Result<CreateOutcome> HostCore::create(ObjectType& type, std::string_view id) {
  Entrance entrance(state_);
  if (auto entered = entrance.enter(); !entered) {
    return std::unexpected(std::move(entered).error());
  }
  if (auto free = check_not_at_work_on(type, id, "creating"); !free) {
    return std::unexpected(std::move(free).error());
  }
  const Ranked order(&state_, Rank::key);
  const auto key = own_key(type, id, state_);
  if (!key) {
    return std::unexpected(key.error());
  }
  const auto active = activator_.activate(type, id);
  if (!active) {
    return std::unexpected(active.error());
  }
  return active->how;
}

Result<EraseOutcome> HostCore::erase(ObjectType& type, std::string_view id) {
  Entrance entrance(state_);
  if (auto entered = entrance.enter(); !entered) {
    return std::unexpected(std::move(entered).error());
  }
  if (auto free = check_not_at_work_on(type, id, "erasing"); !free) {
    return std::unexpected(std::move(free).error());
  }
  const Ranked order(&state_, Rank::key);
  const auto key = own_key(type, id, state_);
  if (!key) {
    return std::unexpected(key.error());
  }
  return activator_.erase(type, id);
}

Result<SaveOutcome> HostCore::save(ObjectType& type, std::string_view id) {
  Entrance entrance(state_);
  if (auto entered = entrance.enter(); !entered) {
    return std::unexpected(std::move(entered).error());
  }
  return save_inside(type, id);
}

Result<SaveOutcome> HostCore::save_inside(ObjectType& type, std::string_view id) {
  const Frame* const own = Frame::of(type, id);
  if (own == nullptr) {
    return writer_.save(type, id, state_.wait_to_begin());
  }
  if (own->doing() == Doing::call) {
    return writer_.save(*own->activation(), Turn::held, state_.wait_to_end());
  }
  return fail(ErrorCode::invalid_argument,
              type.describe(id) + " cannot be saved while a hook of it or `together` is at work");
}

Result<SaveOutcome> HostCore::deactivate(ObjectType& type, std::string_view id) {
  Entrance entrance(state_);
  if (auto entered = entrance.enter(); !entered) {
    return std::unexpected(std::move(entered).error());
  }
  if (auto free = check_not_at_work_on(type, id, "deactivating"); !free) {
    return std::unexpected(std::move(free).error());
  }
  const Ranked order(&state_, Rank::key);
  const auto key = own_key(type, id, state_);
  if (!key) {
    return std::unexpected(key.error());
  }
  Activation* const activation = type.table.find(id);
  if (activation == nullptr) {
    return SaveOutcome::gone;
  }
  auto saved = writer_.save(*activation, Turn::held, state_.wait_to_end());
  if (saved || activation->lost) {
    activator_.drop(type, id);
  }
  return saved;
}

Result<std::size_t> HostCore::save_all() {
  Entrance entrance(state_);
  if (auto entered = entrance.enter(); !entered) {
    return std::unexpected(std::move(entered).error());
  }
  return caretaker_.save_listed(
      [this](ObjectType& type, std::string_view id) { return save_inside(type, id); });
}

Result<void> HostCore::stop(base::Deadline deadline) {
  if (Frame::innermost(&state_) != nullptr) {
    return fail(ErrorCode::invalid_argument,
                "stopping the host from a method or hook of one of its objects would wait for "
                "itself");
  }
  const std::lock_guard one_at_a_time(stop_mutex_);
  state_.stopping.request_stop();
  if (!state_.gate.close(deadline)) {
    return fail(ErrorCode::timed_out, std::to_string(state_.gate.inside()) +
                                          " calls still run; the host takes no new ones. Stop it "
                                          "again when they have ended");
  }
  caretaker_.stop();
  // From here on no other operation is running.
  const auto saved = caretaker_.save_listed(
      [this](ObjectType& type, std::string_view id) { return save_inside(type, id); });
  for (ObjectType* const type : state_.types.in_use()) {
    log_lost(*type);
    state_.active -= type->table.clear_saved();
  }
  if (state_.active != 0) {
    return fail(saved ? ErrorCode::unavailable : saved.error().code,
                std::to_string(state_.active) + " objects are not saved: " +
                    (saved ? "they changed meanwhile" : saved.error().message) +
                    ". Stop the host again to save them");
  }
  if (!saved) {
    return fail(saved.error().code,
                "the host is stopped, but not all was saved: " + saved.error().message);
  }
  return {};
}

void HostCore::log_lost(const ObjectType& type) const {
  for (const std::string& id : type.table.listed_ids()) {
    const Activation* const activation = type.table.find(id);
    if (activation != nullptr && activation->lost && activation->dirty) {
      state_.options.logger.warn(type.describe(id) +
                                 " was lost to another process; what was not saved is gone");
    }
  }
}

HostStats HostCore::stats() {
  HostStats stats{.active = state_.active,
                  .saved = state_.saved,
                  .failed_saves = state_.failed_saves,
                  .lost = state_.lost_objects,
                  .idle = state_.idle_objects};
  for (ObjectType* const type : state_.types.in_use()) {
    stats.keys_in_use += type->keys.size() + type->turns.size() + type->saves.size();
  }
  return stats;
}

}  // namespace holdfast::objects::internal
