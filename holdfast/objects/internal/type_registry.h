#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/base/mutex.h>
#include <holdfast/objects/internal/object_type.h>

namespace holdfast::objects::internal {

// The types of a host, by name and by class.
//
// Thread-safe. Types are added until the first lookup; from then on nothing changes, so that
// lookups need no lock.
class TypeRegistry {
 public:
  // Throws base::Exception with invalid_argument for a name that is taken or invalid, a class that
  // has a name, or a host in use.
  ObjectType& add(std::size_t slot, std::unique_ptr<ObjectType> type);
  void add_method(ObjectType& type, std::string_view name, JsonMethod method);

  // Returns the type, or an error that lists the existing ones.
  [[nodiscard]] base::Result<ObjectType*> find(std::string_view name) HOLDFAST_UNCHECKED {
    seal();
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) [[unlikely]] {
      return unknown(name);
    }
    return found->second.get();
  }
  [[nodiscard]] base::Result<ObjectType*> find(std::size_t slot) HOLDFAST_UNCHECKED {
    seal();
    if (slot >= by_slot_.size() || by_slot_[slot] == nullptr) [[unlikely]] {
      return unknown({});
    }
    return by_slot_[slot];
  }

  // Returns the types in the order of their registration, in which `together` locks. Empty before
  // the host is in use: there are no objects then.
  [[nodiscard]] std::span<ObjectType* const> in_use() const HOLDFAST_UNCHECKED {
    return sealed_.load(std::memory_order_acquire) ? std::span<ObjectType* const>(in_order_)
                                                   : std::span<ObjectType* const>();
  }

 private:
  void seal() {
    if (!sealed_.load(std::memory_order_acquire)) [[unlikely]] {
      const base::MutexLock lock(mutex_);
      sealed_.store(true, std::memory_order_release);
    }
  }
  void check_open() const;
  [[nodiscard, gnu::cold]] std::unexpected<base::Error> unknown(std::string_view name) const
      HOLDFAST_UNCHECKED;

  base::Mutex mutex_;
  std::atomic<bool> sealed_ = false;
  // Constant once sealed: the unchecked functions read them then, without the lock.
  std::map<std::string, std::unique_ptr<ObjectType>, std::less<>> by_name_
      HOLDFAST_GUARDED_BY(mutex_);
  std::vector<ObjectType*> by_slot_ HOLDFAST_GUARDED_BY(mutex_);
  std::vector<ObjectType*> in_order_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::objects::internal
