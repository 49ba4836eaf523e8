#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/local/key_lock.h>
#include <holdfast/objects/host_options.h>
#include <holdfast/objects/internal/activation_table.h>
#include <holdfast/objects/internal/json_method.h>
#include <holdfast/objects/object.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::objects::internal {

using Factory = std::function<std::unique_ptr<Object>()>;

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
  ObjectType(const void* host, std::string its_name, TypeOptions its_options, Factory its_factory)
      : name(std::move(its_name)),
        options(its_options),
        make(std::move(its_factory)),
        table(host) {}

  // Returns "account 'anna'", for messages.
  [[nodiscard]] std::string describe(std::string_view id) const;
  [[nodiscard]] store::ObjectKey key(std::string_view id) const { return {name, std::string(id)}; }
  // Returns the method, or an error that lists the existing ones.
  [[nodiscard]] base::Result<const JsonMethod*> method(std::string_view wanted) const;

  // Constant once the host is in use.
  std::size_t place = 0;  // in the order of registration
  const std::string name;
  const TypeOptions options;
  const Factory make;
  std::map<std::string, JsonMethod, std::less<>> methods;

  local::KeyLock keys;   // shared: calls and saves; exclusive: creation, delete, deactivation
  local::KeyLock turns;  // of the callers of a serial object
  local::KeyLock saves;  // one writer at a time, so that an older state never follows a newer one
  ActivationTable table;
};

}  // namespace holdfast::objects::internal
