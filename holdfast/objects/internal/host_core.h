#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/mutex.h>
#include <holdfast/objects/host_options.h>
#include <holdfast/objects/internal/activator.h>
#include <holdfast/objects/internal/call_gate.h>
#include <holdfast/objects/internal/caretaker.h>
#include <holdfast/objects/internal/lost_list.h>
#include <holdfast/objects/internal/operation.h>
#include <holdfast/objects/internal/type_registry.h>
#include <holdfast/objects/internal/writer.h>
#include <holdfast/objects/outcome.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::objects {
class ObjectHost;
}  // namespace holdfast::objects

namespace holdfast::objects::internal {

// A host behind its public face: the state that its parts share, and the operations, whose
// contracts are those of ObjectHost. Its address identifies the host in LockOrder and Frame.
struct HostCore {
  HostCore(ObjectHost& face, std::shared_ptr<store::ObjectRepository> repository,
           HostOptions options);

  // The type as it was found, or the error that it was not.
  using Found = base::Result<ObjectType*>;
  [[nodiscard]] base::Result<CreateStatus> create(const Found& type, std::string_view id,
                                                  const Limits& limits);
  [[nodiscard]] base::Result<EraseStatus> erase(const Found& type, std::string_view id,
                                                const Limits& limits);
  [[nodiscard]] base::Result<SaveStatus> save(const Found& type, std::string_view id,
                                              const Limits& limits);
  [[nodiscard]] base::Result<SaveStatus> deactivate(const Found& type, std::string_view id,
                                                    const Limits& limits);
  [[nodiscard]] base::Result<std::size_t> save_all(const Limits& limits);
  [[nodiscard]] base::Result<void> stop(base::Deadline deadline);
  [[nodiscard]] HostStats stats() const;
  [[nodiscard]] std::vector<HeldObject> held() const;

  // Constant after construction.
  ObjectHost& face;
  const std::shared_ptr<store::ObjectRepository> repository;
  const HostOptions options;

  CallGate gate;
  std::stop_source stopping;  // ends the waits of operations that have not begun
  LostList lost;
  std::atomic<std::size_t> active = 0;  // activations; each counts itself
  std::atomic<std::uint64_t> saved = 0;
  std::atomic<std::uint64_t> failed_saves = 0;
  std::atomic<std::uint64_t> lost_objects = 0;
  std::atomic<std::uint64_t> idle_objects = 0;
  // Behind these, so that the objects are destroyed first: their leases may still report a loss.
  TypeRegistry types;
  Activator activator{*this};
  Writer writer{*this};
  Caretaker caretaker{*this};
  base::Mutex stop_mutex;  // one stop at a time
};

// Marks a change that is not saved.
void mark_dirty(Activation& activation);
// Marks that another process owns the object, or may own it.
void mark_lost(Activation& activation);

}  // namespace holdfast::objects::internal
