#pragma once

#include <cstddef>
#include <memory>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/store/key_values.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::store {

struct KeyValueStoreOptions {
  Capabilities capabilities{.engine = "key-value"};  // `push` is set by the bus
  // The time for which a name without leases remembers its last token. Longer than the clock of the
  // storage may be set back.
  base::Duration retention = std::chrono::hours(1);
};

// A LeaseStore over a KeyValues and, optionally, a MessageBus: the shortest way to an engine of
// your own. Each operation reads the record of its name, applies lease_rules, and replaces the
// record if nobody has changed it meanwhile; otherwise it starts again, until the deadline. So it
// takes three round trips (`get`, `now` and the replacement), and more under contention: an engine
// that shall be fast restates the rules on its server instead.
//
// Thread-safe. Keeps the storage and the bus alive. Without a bus waiters poll.
class KeyValueStore : public LeaseStore {
 public:
  // Removes the records of names that nobody has used for `retention`, and returns how many. For a
  // storage that does not drop values by itself.
  virtual base::Result<std::size_t> sweep(base::Deadline deadline = base::Deadline::never()) = 0;
};

// `bus` may be null. Throws base::Exception (invalid_argument) if `values` is null or the retention
// is not positive.
[[nodiscard]] std::shared_ptr<KeyValueStore> make_key_value_store(
    std::shared_ptr<KeyValues> values, std::shared_ptr<MessageBus> bus = {},
    KeyValueStoreOptions options = {});

}  // namespace holdfast::store
