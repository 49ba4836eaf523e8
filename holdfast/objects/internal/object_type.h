#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/local/key_lock.h>
#include <holdfast/objects/host_options.h>
#include <holdfast/objects/internal/activation_table.h>
#include <holdfast/objects/internal/block_pool.h>
#include <holdfast/objects/internal/json_method.h>
#include <holdfast/objects/object.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::objects::internal {

// Makes an object: at `place` where its type has room for it, elsewhere with `new`.
using Factory = std::function<Object*(void* place)>;

// Returns a new number; each C++ class has one, the same in the whole process.
[[nodiscard]] std::size_t next_type_slot() noexcept;
template <class T>
std::size_t type_slot() noexcept {
  static const std::size_t kSlot = next_type_slot();
  return kSlot;
}

// A registered type: how its objects are made and called, its locks, and the table of its active
// objects. Ids are per type, so each type has its own locks, and keys need not be concatenated.
struct ObjectType {
  // `room`: how many bytes an object needs at its place; 0: its factory uses `new`.
  ObjectType(const void* host, std::string its_name, TypeOptions its_options, Factory its_factory,
             std::size_t its_room = 0)
      : name(std::move(its_name)),
        options(its_options),
        make(std::move(its_factory)),
        room(its_room),
        blocks(sizeof(Activation) + its_room),
        table(host) {}

  // Returns "account 'anna'", for messages.
  [[nodiscard]] std::string describe(std::string_view id) const;
  [[nodiscard]] store::ObjectKey key(std::string_view id) const { return {name, std::string(id)}; }
  // Returns the error for a rejected token: `lost` to a host with a lease, `conflict` to one
  // without.
  [[nodiscard, gnu::cold]] base::Error refusal(std::string_view id, base::FencingToken token,
                                               base::FencingToken newest) const;
  // Returns the method, or an error that lists the existing ones.
  [[nodiscard]] base::Result<const JsonMethod*> method(std::string_view wanted) const;

  // Constant once the host is in use.
  std::size_t place = 0;  // in the order of registration
  const std::string name;
  const TypeOptions options;
  const Factory make;
  const std::size_t room;
  std::map<std::string, JsonMethod, std::less<>> methods;

  local::KeyLock keys;   // shared: calls and saves; exclusive: creation, delete, deactivation
  local::KeyLock turns;  // of the callers of a serial object
  local::KeyLock saves;  // one writer at a time, so that an older state never follows a newer one
  BlockPool blocks;      // of the activations, and of the objects behind them
  ActivationTable table;
};

}  // namespace holdfast::objects::internal
