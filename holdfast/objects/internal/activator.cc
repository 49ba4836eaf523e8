#include <holdfast/objects/internal/activator.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <holdfast/base/name.h>
#include <holdfast/objects/internal/call_chain.h>
#include <holdfast/objects/internal/refusal.h>
#include <holdfast/objects/internal/user_code.h>

namespace holdfast::objects::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// A place for one more object, freed unless it is kept.
class Seat {
 public:
  Seat(std::atomic<std::size_t>& taken, std::size_t most) : taken_(taken) {
    is_taken_ = taken_.fetch_add(1, std::memory_order_relaxed) < most;
    if (!is_taken_) taken_.fetch_sub(1, std::memory_order_relaxed);
  }
  ~Seat() {
    if (is_taken_) taken_.fetch_sub(1, std::memory_order_relaxed);
  }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  [[nodiscard]] bool is_taken() const noexcept { return is_taken_; }
  void keep() noexcept { is_taken_ = false; }

 private:
  std::atomic<std::size_t>& taken_;
  bool is_taken_ = false;
};

Result<void> check_id(std::string_view id) {
  if (id.empty() || id.size() > base::Name::kMaxSize) {
    return std::unexpected(in_context("the id of an object", base::Name::make(id).error()));
  }
  return {};
}

auto construct(const HostState& host, ObjectType& type, std::string_view id) {
  Frame frame;
  frame.enter(&host, type, id, nullptr, Doing::hook);
  return run_user_code([&] { return type.make(); });
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

}  // namespace

Activator::Activator(HostState& host) : host_(host), ownership_(host.options.ownership) {}

Result<Active> Activator::activate(ObjectType& type, std::string_view id) {
  if (Activation* const there = type.table.find(id)) {
    if (there->usable()) {
      return Active{there, CreateOutcome::active};
    }
    mark_lost(*there);
    drop(type, id);
  }
  if (auto valid = check_id(id); !valid) {
    return std::unexpected(std::move(valid).error());
  }
  Seat seat(host_.active, host_.options.max_objects);
  if (!seat.is_taken()) {
    return fail(ErrorCode::limit_exceeded, "the host has as many objects as it may: " +
                                               std::to_string(host_.options.max_objects) +
                                               " (HostOptions::max_objects)");
  }
  auto lease = ownership_.acquire(type, id, stop_of_waits());
  if (!lease) {
    return std::unexpected(std::move(lease).error());
  }
  auto object = construct(host_, type, id);
  if (!object) {
    return std::unexpected(
        in_context("the constructor of " + type.describe(id), std::move(object).error()));
  }
  if (*object == nullptr) {
    return fail(ErrorCode::failed, "the factory of type '" + type.name + "' gave nothing");
  }
  auto activation = std::make_unique<Activation>(host_, type, std::string(id), *std::move(object),
                                                 *std::move(lease));
  const auto how = fill(*activation);
  if (!how) {
    return std::unexpected(how.error());
  }
  activation->last_used = host_.options.clock->coarse_now().time_since_epoch().count();
  Activation& inserted = type.table.insert(std::move(activation));
  seat.keep();
  if (inserted.lease != nullptr) {
    OwnedLease& owned = *inserted.lease;
    owned.on_lost.emplace(owned.lock.lost(), [&inserted] { mark_lost(inserted); });
  }
  return Active{&inserted, *how};
}

Result<CreateOutcome> Activator::fill(Activation& activation) const {
  Object& object = *activation.object;
  auto loaded = host_.repository->load(activation.type.key(activation.id), activation.token(),
                                       host_.store_deadline());
  if (!loaded) {
    return std::unexpected(in_context("loading " + activation.type.describe(activation.id),
                                      std::move(loaded).error()));
  }
  if (const auto* const refused = std::get_if<store::Refused>(&*loaded)) {
    return std::unexpected(
        refusal(activation.type, activation.id, activation.token(), refused->newest));
  }
  if (const auto* const found = std::get_if<store::Loaded>(&*loaded)) {
    auto done = read(activation, found->data);
    if (done) {
      done = run_hook(activation, Doing::hook, "on_loaded", [&] { object.on_loaded(); });
    }
    if (!done) {
      return std::unexpected(std::move(done).error());
    }
    return CreateOutcome::loaded;
  }
  activation.dirty = true;
  auto done = run_hook(activation, Doing::hook, "on_created", [&] { object.on_created(); });
  if (!done) {
    return std::unexpected(std::move(done).error());
  }
  return CreateOutcome::created;
}

Result<void> Activator::read(Activation& activation, std::string_view text) const {
  return run_hook(activation, Doing::data, "from_data", [&]() -> Result<void> {
    try {
      activation.object->from_data(nlohmann::json::parse(text));
    } catch (const nlohmann::json::exception& error) {
      return fail(ErrorCode::corrupt, std::string("what is stored does not fit: ") + error.what());
    }
    return {};
  });
}

Result<EraseOutcome> Activator::erase(ObjectType& type, std::string_view id) {
  if (auto valid = check_id(id); !valid) {
    return std::unexpected(std::move(valid).error());
  }
  Activation* const there = type.table.find(id);
  const bool is_active = there != nullptr && there->usable();
  locks::Lock lease;
  if (is_active) {
    auto told = run_hook(*there, Doing::hook, "on_deleting", [&] { there->object->on_deleting(); });
    if (!told) {
      return std::unexpected(std::move(told).error());
    }
  } else {
    if (there != nullptr) mark_lost(*there);
    drop(type, id);
    auto acquired = ownership_.acquire(type, id, stop_of_waits());
    if (!acquired) {
      return std::unexpected(std::move(acquired).error());
    }
    lease = *std::move(acquired);
  }
  // Remove from the map first: a lookup does not find the object while the store works.
  const std::unique_ptr<Activation> erased = is_active ? type.table.extract(id) : nullptr;
  if (erased != nullptr) {
    host_.active.fetch_sub(1, std::memory_order_relaxed);
  }
  const base::FencingToken token = erased != nullptr ? erased->token()
                                   : lease.holds()   ? lease.token()
                                                     : base::FencingToken(0);
  auto outcome = host_.repository->erase(type.key(id), token, host_.store_deadline());
  if (!outcome) {
    return std::unexpected(in_context(
        "erasing " + type.describe(id) + ", which is out of memory but may still be stored",
        std::move(outcome).error()));
  }
  if (const auto* const refused = std::get_if<store::Refused>(&*outcome)) {
    return std::unexpected(refusal(type, id, token, refused->newest));
  }
  const bool existed = erased != nullptr || std::get<store::Erased>(*outcome).existed;
  return existed ? EraseOutcome::erased : EraseOutcome::absent;
}

void Activator::drop(ObjectType& type, std::string_view id) {
  const std::unique_ptr<Activation> dropped = type.table.extract(id);
  if (dropped == nullptr) {
    return;
  }
  host_.active.fetch_sub(1, std::memory_order_relaxed);
  if (dropped->lost) {
    host_.options.logger.warn(type.describe(dropped->id) +
                              " was lost to another process; what was not saved is gone");
  }
}

std::stop_token Activator::stop_of_waits() const {
  return Frame::innermost(&host_) == nullptr ? host_.stopping.get_token() : std::stop_token();
}

}  // namespace holdfast::objects::internal
