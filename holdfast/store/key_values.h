#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/store/lease_store.h>

// The two seams for an engine of your own: a storage of values by key, and a bus that carries
// hints. make_key_value_store() turns them into a LeaseStore.
namespace holdfast::store {

// A storage of values by key with compare-and-set, as most databases and caches offer it.
//
// Thread-safe, and shared by every process that shall exclude the others. Each function is atomic
// and returns by the deadline: ErrorCode::unavailable if nothing was done, unknown_outcome if that
// is not known. Keys and values are any bytes.
class KeyValues {
 public:
  KeyValues() = default;
  KeyValues(const KeyValues&) = delete;
  KeyValues& operator=(const KeyValues&) = delete;
  virtual ~KeyValues() = default;

  // Returns the value of the key, or nullopt.
  virtual base::Result<std::optional<std::string>> get(std::string_view key,
                                                       base::Deadline deadline) = 0;
  // Stores the value if the key has none; returns whether it did. The storage may drop the value
  // when it was not replaced for `keep_for`; it need not.
  virtual base::Result<bool> insert(std::string_view key, std::string_view value,
                                    base::Duration keep_for, base::Deadline deadline) = 0;
  // Stores the value if the key still has the value `expected`; returns whether it did.
  virtual base::Result<bool> replace_if_equal(std::string_view key, std::string_view expected,
                                              std::string_view value, base::Duration keep_for,
                                              base::Deadline deadline) = 0;
  // Removes the key if it still has the value `expected`; returns whether it did.
  virtual base::Result<bool> remove_if_equal(std::string_view key, std::string_view expected,
                                             base::Deadline deadline) = 0;
  // Returns up to `limit` keys that begin with `prefix` and come after `after`, in byte order.
  virtual base::Result<std::vector<std::string>> keys(std::string_view prefix,
                                                      std::string_view after, std::size_t limit,
                                                      base::Deadline deadline) = 0;
  // Returns the time since 1970 by the one clock that judges for all: the storage's own, not that
  // of this machine, wherever other machines share the storage.
  virtual base::Result<base::Duration> now(base::Deadline deadline) = 0;
};

// Carries hints between processes: "this name may be free". A hint may get lost: waiters also poll.
//
// Thread-safe.
class MessageBus {
 public:
  MessageBus() = default;
  MessageBus(const MessageBus&) = delete;
  MessageBus& operator=(const MessageBus&) = delete;
  virtual ~MessageBus() = default;

  // Tells every subscriber of the name, in this process and in others. Does not block for long.
  virtual void publish(std::string_view name) = 0;
  // Calls back, from any thread, when the name was published, until the Watch is destroyed.
  virtual base::Result<Watch> subscribe(std::string_view name, std::function<void()> callback) = 0;
};

}  // namespace holdfast::store
