#include <holdfast/objects/internal/activator.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <holdfast/base/name.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/objects/internal/call_chain.h>
#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/internal/user_code.h>

namespace holdfast::objects::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<void> check_id(std::string_view id) {
  if (id.empty() || id.size() > base::Name::kMaxSize) {
    return std::unexpected(in_context("the id of an object", base::Name::make(id).error()));
  }
  return {};
}

// Returns the owner, such as "user@host:42", according to the store at this moment.
std::string owner_of(locks::LockProvider& provider, std::string_view name) {
  const auto state = provider.look(name);
  if (!state || !state->has_value() || (*state)->holders.empty()) {
    return "an unknown owner";
  }
  return "'" + base::printable((*state)->holders.front().owner) + "'";
}

template <class Hook>
Result<void> run_hook(Activation& activation, Doing doing, std::string_view name, Hook&& hook) {
  Frame frame;
  frame.enter(&activation.host, activation.type, activation.id, &activation, doing);
  auto done = run_user_code(std::forward<Hook>(hook));
  if (!done) {
    const std::string what = std::string(name) + " of " + activation.type.describe(activation.id);
    return std::unexpected(in_context(what, std::move(done).error()));
  }
  return {};
}

Result<void> construct(Activation& activation) {
  const ObjectType& type = activation.type;
  Frame frame;
  frame.enter(&activation.host, type, activation.id, nullptr, Doing::hook);
  if (auto made = run_user_code([&] { activation.make_object(); }); !made) {
    return std::unexpected(
        in_context("the constructor of " + type.describe(activation.id), std::move(made).error()));
  }
  if (activation.object == nullptr) {
    return fail(ErrorCode::failed, "the factory of type '" + type.name + "' gave nothing");
  }
  return {};
}

Result<void> read(Activation& activation, std::string_view text) {
  return run_hook(activation, Doing::data, "from_data", [&]() -> Result<void> {
    try {
      activation.object->from_data(nlohmann::json::parse(text));
    } catch (const nlohmann::json::exception& error) {
      return fail(ErrorCode::corrupt, std::string("what is stored does not fit: ") + error.what());
    }
    return {};
  });
}

}  // namespace

Result<Active> Activator::activate(ObjectType& type, std::string_view id,
                                   const Operation& operation) {
  if (Activation* const there = type.table.find(id)) {
    if (there->usable()) {
      return Active{there, CreateStatus::active};
    }
    mark_lost(*there);
    drop(type, id);
  }
  HOLDFAST_TRY(check_id(id));
  auto activation = Activation::make(host_, type, id);
  if (activation == nullptr) {
    return fail(ErrorCode::limit_exceeded, "the host has as many objects as it may: " +
                                               std::to_string(host_.options.max_objects) +
                                               " (HostOptions::max_objects)");
  }
  HOLDFAST_TRY_LET(auto lock, acquire(type, id, operation));
  if (lock.holds()) activation->lease = std::make_unique<OwnedLease>(std::move(lock));
  HOLDFAST_TRY(construct(*activation));
  HOLDFAST_TRY_LET(const auto how, fill(*activation, operation));
  activation->last_used = host_.options.clock->coarse_now().time_since_epoch().count();
  Activation& inserted = type.table.insert(std::move(activation));
  if (inserted.lease != nullptr) {
    OwnedLease& owned = *inserted.lease;
    owned.on_lost.emplace(owned.lock.lost(), [&inserted] { mark_lost(inserted); });
  }
  return Active{&inserted, how};
}

Result<locks::Lock> Activator::acquire(const ObjectType& type, std::string_view id,
                                       const Operation& operation) const {
  const OwnershipOptions& options = host_.options.ownership;
  if (options.provider == nullptr) {
    return locks::Lock();
  }
  const std::string name = options.prefix + type.name + "/" + std::string(id);
  const base::Duration wait =
      operation.deadline(options.wait).remaining(base::steady_clock().now());
  auto lock = options.provider->try_acquire(name, {.ttl = options.ttl,
                                                   .wait = wait,
                                                   .stop = operation.stop_token(),
                                                   .reason = "active object"});
  if (!lock) {
    return fail(lock.error().code,
                "no ownership of " + type.describe(id) + ": " + lock.error().message);
  }
  if (!lock->has_value()) {
    return fail(ErrorCode::busy, type.describe(id) + " is active at " +
                                     owner_of(*options.provider, name) +
                                     "; call it there, or wait until it is idle");
  }
  return **std::move(lock);
}

Result<CreateStatus> Activator::fill(Activation& activation, const Operation& operation) const {
  Object& object = *activation.object;
  auto loaded = host_.repository->load(activation.type.key(activation.id), activation.token(),
                                       operation.store_deadline());
  if (!loaded) {
    return operation.store_failed("loading " + activation.type.describe(activation.id),
                                  loaded.error());
  }
  if (const auto* const refused = std::get_if<store::Refused>(&*loaded)) {
    return std::unexpected(
        activation.type.refusal(activation.id, activation.token(), refused->newest));
  }
  if (const auto* const found = std::get_if<store::Loaded>(&*loaded)) {
    HOLDFAST_TRY(read(activation, found->data));
    HOLDFAST_TRY(run_hook(activation, Doing::hook, "on_loaded", [&] { object.on_loaded(); }));
    return CreateStatus::loaded;
  }
  activation.dirty = true;
  HOLDFAST_TRY(run_hook(activation, Doing::hook, "on_created", [&] { object.on_created(); }));
  return CreateStatus::created;
}

Result<EraseStatus> Activator::erase(ObjectType& type, std::string_view id,
                                     const Operation& operation) {
  HOLDFAST_TRY(check_id(id));
  Activation* const there = type.table.find(id);
  const bool is_active = there != nullptr && there->usable();
  locks::Lock lease;
  if (is_active) {
    HOLDFAST_TRY(
        run_hook(*there, Doing::hook, "on_deleting", [&] { there->object->on_deleting(); }));
  } else {
    if (there != nullptr) mark_lost(*there);
    drop(type, id);
    HOLDFAST_TRY_LET(lease, acquire(type, id, operation));
  }
  // Remove from the map first: a lookup does not find the object while the store works.
  const std::unique_ptr<Activation> erased = is_active ? type.table.extract(id) : nullptr;
  const base::FencingToken token = erased != nullptr ? erased->token()
                                   : lease.holds()   ? lease.token()
                                                     : base::FencingToken(0);
  const auto outcome = host_.repository->erase(type.key(id), token, operation.store_deadline());
  if (!outcome) {
    return operation.store_failed(
        "erasing " + type.describe(id) + ", which is out of memory but may still be stored",
        outcome.error());
  }
  if (const auto* const refused = std::get_if<store::Refused>(&*outcome)) {
    return std::unexpected(type.refusal(id, token, refused->newest));
  }
  const bool existed = erased != nullptr || std::get<store::Erased>(*outcome).existed;
  return existed ? EraseStatus::erased : EraseStatus::absent;
}

void Activator::drop(ObjectType& type, std::string_view id) {
  const std::unique_ptr<Activation> dropped = type.table.extract(id);
  if (dropped == nullptr) {
    return;
  }
  if (dropped->lost) {
    host_.options.logger.warn(type.describe(dropped->id) +
                              " was lost to another process; what was not saved is gone");
  }
}

}  // namespace holdfast::objects::internal
