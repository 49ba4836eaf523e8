#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/objects/host_options.h>
#include <holdfast/objects/internal/call_scope.h>
#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/internal/member_function.h>
#include <holdfast/objects/internal/together_scope.h>
#include <holdfast/objects/object.h>
#include <holdfast/objects/outcome.h>
#include <holdfast/objects/registered_type.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::objects {

// A host of objects by type and id: it makes them when they are first called, lets many threads
// call them, saves them to a repository and erases them, each object under the lock of its key.
//
// Thread-safe. Register all types before the first use of the host. Its provider must outlive it;
// no operation may run when it is destroyed, which stops it.
//
// **Promises for one object.** Concurrent creates give one object. No call and no save runs during
// its creation or its deletion. Calls run concurrently, unless its type is Calls::serial. A call to
// an object that is not in memory loads it from the store, or makes a new one. `erase` removes it
// from memory before it removes it from the store; a save of an erased object writes nothing. A
// failing constructor, load, hook, method, save or delete is an error of that operation, leaves
// nothing half-made, and the next call works. What a method changed before it threw stays changed.
//
// **Lock order**: stop → key → map, and between the last two a serial object's turn and its save.
// Builds without NDEBUG abort, with a message, if it is violated. The map lock is innermost, and
// no user code runs under it. Saves of one object are serial, so that the store never receives an
// older state after a newer one.
//
// **Calls from methods.** A method may call the host: for other objects, and for its own object
// unless that is serial. A call that would wait for itself is ErrorCode::invalid_argument: a serial
// object that calls itself, erasing, creating or deactivating an object from its own method or
// hook, stopping the host from any method. Not prevented: two methods that each call the other's
// object, with serial types or a delete in between; every wait ends after HostOptions::key_wait,
// with timed_out.
//
// **Saving.** A method that is not const marks its object as changed. Changed objects are saved
// every HostOptions::save_every, by `save`, `save_all`, `deactivate` and `stop`, and with
// SaveWhen::each_call before each call returns. What a completed save wrote survives as the
// repository promises; later changes are lost with the process. A new object that was never saved
// is not stored.
//
// **Across processes**, with a provider, an object is active in one process at a time: its lease is
// held from its activation until it leaves memory, and every load, save and erase carries its
// fencing token. When the lease is lost, running calls finish (they return ErrorCode::lost), none
// of their changes is saved, and the next call acquires the lease and loads the data again. So a
// process that was stopped and resumes cannot overwrite what its successor wrote. Without a
// provider the host must be the only user of the repository.
//
// Operations block for at most HostOptions::key_wait, OwnershipOptions::wait and
// HostOptions::store_wait, and as long as the methods they run; each may have its own Limits: a
// time for all its waits together (timed_out), and a stop token (cancelled). Errors:
// invalid_argument (a type, class, method or request that does not exist or fit; the message lists
// what exists), failed (user code threw), corrupt (the stored data cannot be read), busy (active in
// another process, which is named), timed_out, cancelled (by the caller, or the host stops),
// unavailable (it is stopped), lost, conflict (stored by hosts with a provider), limit_exceeded,
// and those of the repository and the provider.
//
//   ObjectHost host(value_or_throw(open_repository("sqlite:/var/lib/bank.db")));
//   host.register_type<Account>("account").method<&Account::deposit>("deposit");
//   host.call<&Account::deposit>("anna", 100);
class ObjectHost {
 public:
  // Throws base::Exception with invalid_argument if an option is invalid, or there is no
  // repository.
  explicit ObjectHost(std::shared_ptr<store::ObjectRepository> repository,
                      HostOptions options = {});
  // Stops without a time limit; logs what could not be saved. In a forked child it returns at once
  // and touches nothing: the objects and their leases are the parent's.
  ~ObjectHost();
  ObjectHost(const ObjectHost&) = delete;
  ObjectHost& operator=(const ObjectHost&) = delete;

  // Throws base::Exception with invalid_argument if the name or the class is already registered, or
  // the host is in use. `make` is for a class without a default constructor.
  template <std::derived_from<Object> T>
    requires std::default_initializable<T>
  RegisteredType<T> register_type(std::string name, TypeOptions options = {}) {
    if constexpr (alignof(T) > alignof(internal::Activation)) {
      return register_type<T>(std::move(name), options, [] { return std::make_unique<T>(); });
    } else {
      return add_type<T>(
          std::move(name), options, [](void* place) -> Object* { return new (place) T(); },
          sizeof(T));
    }
  }
  template <std::derived_from<Object> T>
  RegisteredType<T> register_type(std::string name, TypeOptions options,
                                  std::function<std::unique_ptr<T>()> make) {
    return add_type<T>(
        std::move(name), options,
        [make = std::move(make)](void*) -> Object* { return make().release(); }, 0);
  }

  // Calls a method of an object, which is loaded or made if needed. Nothing is serialised;
  // arguments are forwarded. Returns the method's result by value; of a Result, its value or its
  // error.
  //
  //   Result<long> balance = host.call<&Account::balance>("anna");
  template <auto kMethod, class... Args>
  auto call(std::string_view id, Args&&... args) {
    return call<typename internal::Method<kMethod>::Class, kMethod>(kNoLimits, id,
                                                                    std::forward<Args>(args)...);
  }
  // With limits, which come first: call<&Account::deposit>({.within = 1s}, "anna", 100).
  template <auto kMethod, class... Args>
  auto call(const Limits& limits, std::string_view id, Args&&... args) {
    return call<typename internal::Method<kMethod>::Class, kMethod>(limits, id,
                                                                    std::forward<Args>(args)...);
  }
  // For a method that T inherits from a class that is not registered itself.
  template <std::derived_from<Object> T, auto kMethod, class... Args>
  auto call(std::string_view id, Args&&... args) {
    return call<T, kMethod>(kNoLimits, id, std::forward<Args>(args)...);
  }
  template <std::derived_from<Object> T, auto kMethod, class... Args>
  auto call(const Limits& limits, std::string_view id, Args&&... args)
      -> base::Result<internal::Value<typename internal::Method<kMethod>::Reply>> {
    static_assert(std::is_invocable_v<decltype(kMethod), T&, Args...>,
                  "the method does not take these arguments");
    const auto type = find<T>();
    if (!type) [[unlikely]] {
      return std::unexpected(type.error());
    }
    internal::CallScope scope(*core_, **type, limits);
    if (auto begun = scope.begin(id); !begun) [[unlikely]] {
      return std::unexpected(std::move(begun).error());
    }
    return scope.run(internal::Method<kMethod>::kEffect, [&]() -> decltype(auto) {
      return (static_cast<T&>(scope.object()).*kMethod)(std::forward<Args>(args)...);
    });
  }

  // Calls a method by name. The request is null for a method without arguments, the argument for a
  // method with one, and an array for a method with more; the reply is its result, or null.
  [[nodiscard]] base::Result<nlohmann::json> call(std::string_view type, std::string_view id,
                                                  std::string_view method,
                                                  const nlohmann::json& request = nullptr,
                                                  const Limits& limits = kNoLimits);
  // Returns the reply converted to Reply; invalid_argument, with the reply, if it does not fit.
  template <class Reply>
  [[nodiscard]] base::Result<Reply> call_as(std::string_view type, std::string_view id,
                                            std::string_view method,
                                            const nlohmann::json& request = nullptr,
                                            const Limits& limits = kNoLimits) {
    const auto reply = call(type, id, method, request, limits);
    if (!reply) {
      return std::unexpected(reply.error());
    }
    try {
      return reply->template get<Reply>();
    } catch (const nlohmann::json::exception& error) {
      return std::unexpected(bad_reply(type, method, *reply, error.what()));
    }
  }

  // Changes several objects atomically: no other caller reaches them meanwhile, and after the work
  // all of them are saved in one step, or none. If the work fails, by an exception or an Error, or
  // the save fails, from_data restores their earlier state. (After unknown_outcome they have the
  // stored state.) All callers lock objects in the same order, so two `together` calls do not
  // deadlock. The same object twice is invalid_argument; a repository that cannot save several
  // objects atomically is unsupported.
  //
  //   host.together<Account, Account>({"anna", "bert"}, [](Account& from, Account& to) { … });
  template <std::derived_from<Object>... T, class Work>
  auto together(const std::array<std::string_view, sizeof...(T)>& ids, Work&& work,
                const Limits& limits = kNoLimits)
      -> base::Result<internal::Value<std::invoke_result_t<Work, T&...>>>;

  // Loads an object into memory, or makes it.
  [[nodiscard]] base::Result<CreateStatus> create(std::string_view type, std::string_view id,
                                                  const Limits& limits = kNoLimits) {
    return core_->create(core_->types.find(type), id, limits);
  }
  // Removes the object from memory, then from the store. If the store fails, the object has left
  // memory and stays stored as last saved.
  [[nodiscard]] base::Result<EraseStatus> erase(std::string_view type, std::string_view id,
                                                const Limits& limits = kNoLimits) {
    return core_->erase(core_->types.find(type), id, limits);
  }
  [[nodiscard]] base::Result<SaveStatus> save(std::string_view type, std::string_view id,
                                              const Limits& limits = kNoLimits) {
    return core_->save(core_->types.find(type), id, limits);
  }
  // Saves an object and removes it from memory; other processes can then own it. If the save fails,
  // the object stays in memory.
  [[nodiscard]] base::Result<SaveStatus> deactivate(std::string_view type, std::string_view id,
                                                    const Limits& limits = kNoLimits) {
    return core_->deactivate(core_->types.find(type), id, limits);
  }
  template <std::derived_from<Object> T>
  [[nodiscard]] base::Result<CreateStatus> create(std::string_view id,
                                                  const Limits& limits = kNoLimits) {
    return core_->create(find<T>(), id, limits);
  }
  template <std::derived_from<Object> T>
  [[nodiscard]] base::Result<EraseStatus> erase(std::string_view id,
                                                const Limits& limits = kNoLimits) {
    return core_->erase(find<T>(), id, limits);
  }
  template <std::derived_from<Object> T>
  [[nodiscard]] base::Result<SaveStatus> save(std::string_view id,
                                              const Limits& limits = kNoLimits) {
    return core_->save(find<T>(), id, limits);
  }
  template <std::derived_from<Object> T>
  [[nodiscard]] base::Result<SaveStatus> deactivate(std::string_view id,
                                                    const Limits& limits = kNoLimits) {
    return core_->deactivate(find<T>(), id, limits);
  }

  // Saves all objects that had changed when this was called; returns how many. If some fail, the
  // others are saved, and one of the errors is returned. While the store hangs this may take
  // HostOptions::store_wait for each request, of up to HostOptions::save_batch objects.
  base::Result<std::size_t> save_all(const Limits& limits = kNoLimits) {
    return core_->save_all(limits);
  }
  // Rejects new calls, waits for running ones, saves changed objects and removes all objects from
  // memory, with their leases. timed_out: calls are still running. lost, conflict: other processes
  // own objects whose changes are lost, if count() is 0. Any other error: some objects could not be
  // saved and are still in memory. It may be called again in all cases; stopping twice is harmless.
  // `wait` is for the calls: saving may take HostOptions::store_wait for each request while the
  // store hangs.
  base::Result<void> stop(base::Duration wait = base::Duration::max());

  // Return the number of objects in memory, of all types and of one.
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] base::Result<std::size_t> count(std::string_view type) const;
  // Returns the ids of a type in memory that begin with the prefix, in byte order; `after` is the
  // `next` of the previous page. The first page visits all objects, the next ones continue it.
  [[nodiscard]] base::Result<store::IdPage> ids(std::string_view type, std::string_view prefix = {},
                                                std::size_t limit = 1000,
                                                std::string_view after = {}) const;
  // Returns the same for the objects in the store.
  [[nodiscard]] base::Result<store::IdPage> stored_ids(std::string_view type,
                                                       std::string_view prefix = {},
                                                       std::size_t limit = 1000,
                                                       std::string_view after = {}) const;
  [[nodiscard]] HostStats stats() const { return core_->stats(); }
  // Returns the objects that are in use or waited for, by type and id. Exact for each lock, but not
  // one moment for all of them.
  [[nodiscard]] std::vector<HeldObject> held() const { return core_->held(); }

 private:
  template <class T>
  RegisteredType<T> add_type(std::string name, TypeOptions options, internal::Factory make,
                             std::size_t room) {
    return {core_->types,
            core_->types.add(internal::type_slot<T>(),
                             std::make_unique<internal::ObjectType>(
                                 core_.get(), std::move(name), options, std::move(make), room))};
  }
  template <class T>
  [[nodiscard]] base::Result<internal::ObjectType*> find() const {
    return core_->types.find(internal::type_slot<T>());
  }
  [[nodiscard, gnu::cold]] static base::Error bad_reply(std::string_view type,
                                                        std::string_view method,
                                                        const nlohmann::json& reply,
                                                        std::string_view why);

  const base::ProcessMark process_;
  std::unique_ptr<internal::HostCore> core_;
};

template <std::derived_from<Object>... T, class Work>
auto ObjectHost::together(const std::array<std::string_view, sizeof...(T)>& ids, Work&& work,
                          const Limits& limits)
    -> base::Result<internal::Value<std::invoke_result_t<Work, T&...>>> {
  std::vector<internal::Member> members;
  for (auto& type : {find<T>()...}) {
    if (!type) return std::unexpected(type.error());
    members.push_back({*type, ids[members.size()]});
  }
  internal::TogetherScope scope(*core_, std::move(members), limits);
  if (auto begun = scope.begin(); !begun) {
    return std::unexpected(std::move(begun).error());
  }
  auto result = internal::run_user_code([&]() -> decltype(auto) {
    return [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) -> decltype(auto) {
      return std::forward<Work>(work)(static_cast<T&>(scope.object(kIndex))...);
    }(std::index_sequence_for<T...>());
  });
  if (!result) {
    scope.roll_back();
  } else if (auto saved = scope.commit(); !saved) {
    return std::unexpected(std::move(saved).error());
  }
  return result;
}

}  // namespace holdfast::objects
