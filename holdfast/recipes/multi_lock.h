#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/recipes/basic_multi_lock.h>

namespace holdfast::recipes {

// Several names that are held together.
//
// `acquire_all` acquires them one after the other, each once, in byte order, whatever their order
// in the call: so two callers with overlapping names cannot deadlock. The wait is for all of them
// together. All or none: if one cannot be acquired, those already acquired are released. A caller
// that acquires the same names one by one in another order can still deadlock with this: give a
// wait.
//
// Move-only; one thread at a time, except `lost` and `check`, which any thread may call. `lost`
// fires when the first of the locks is lost. Destruction releases, the last name first. It does not
// throw; for each name, one after the other, it waits for the store no longer than that lease would
// have lasted.
//
//   auto both = acquire_all(provider, {"account/anna", "account/bert"}, {.wait = 5s});
//   transfer();
class [[nodiscard]] MultiLock : public BasicMultiLock<locks::Lock> {
 public:
  using BasicMultiLock::BasicMultiLock;

  // Releases all, and returns whether every one was still held, or the first error.
  base::Result<store::ReleaseOutcome> release();
};

// Throws base::Exception as LockProvider::acquire does; invalid_argument without a name.
[[nodiscard]] MultiLock acquire_all(locks::LockProvider& provider, std::vector<std::string> names,
                                    const locks::AcquireOptions& options = {});
// Returns nullopt if one of the names was not acquired within `options.wait` (default: zero).
[[nodiscard]] base::Result<std::optional<MultiLock>> try_acquire_all(
    locks::LockProvider& provider, std::vector<std::string> names,
    const locks::AcquireOptions& options = {});

}  // namespace holdfast::recipes
