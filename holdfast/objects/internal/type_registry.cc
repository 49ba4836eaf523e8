#include <holdfast/objects/internal/type_registry.h>

#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/objects/internal/name_list.h>

namespace holdfast::objects::internal {

namespace {

using base::ErrorCode;

constexpr std::size_t kMaxTypeName = 128;

[[noreturn]] void refuse(std::string message) {
  base::throw_error({ErrorCode::invalid_argument, std::move(message)});
}

}  // namespace

ObjectType& TypeRegistry::add(std::size_t slot, std::unique_ptr<ObjectType> type) {
  const base::MutexLock lock(mutex_);
  check_open();
  const std::string& name = type->name;
  // A lease is named TYPE/ID.
  if (name.empty() || name.size() > kMaxTypeName || name.contains('/')) {
    refuse("'" + base::printable(name) +
           "' cannot name a type: 1 to 128 bytes without a slash can");
  }
  if (by_name_.contains(name)) {
    refuse("the type '" + base::printable(name) + "' is registered already");
  }
  if (slot < by_slot_.size() && by_slot_[slot] != nullptr) {
    refuse("the class of '" + base::printable(name) + "' is registered already, as '" +
           by_slot_[slot]->name + "'");
  }
  ObjectType& added = *type;
  if (slot >= by_slot_.size()) {
    by_slot_.resize(slot + 1);
  }
  added.place = in_order_.size();
  in_order_.push_back(&added);
  by_name_.emplace(name, std::move(type));
  by_slot_[slot] = &added;
  return added;
}

void TypeRegistry::add_method(ObjectType& type, std::string_view name, JsonMethod method) {
  const base::MutexLock lock(mutex_);
  check_open();
  if (name.empty()) {
    refuse("a method of '" + type.name + "' has no name");
  }
  if (!type.methods.try_emplace(std::string(name), std::move(method)).second) {
    refuse("'" + type.name + "' has a method '" + base::printable(name) + "' already");
  }
}

void TypeRegistry::check_open() const {
  if (sealed_.load(std::memory_order_relaxed)) {
    refuse("the host is in use: register all types and methods before the first call");
  }
}

std::unexpected<base::Error> TypeRegistry::unknown(std::string_view name) const {
  const std::string what = name.empty() ? "this class is not a registered type"
                                        : "no type '" + base::printable(name) + "'";
  return base::fail(ErrorCode::invalid_argument, what + "; there are: " + name_list(by_name_));
}

}  // namespace holdfast::objects::internal
