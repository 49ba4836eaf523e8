#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/recipes/any_stop.h>

namespace holdfast::recipes {

// Several names that are held together.
//
// `acquire_all` takes them one after the other, in the order of their bytes whatever the order in
// which they were given, and each once: so two that want the same names cannot each hold what the
// other waits for. One wait is for all of them. It is all or nothing: where one cannot be had,
// those already taken are given back. Names that are taken one by one elsewhere, in another order,
// can still wait for each other: give a wait.
//
// Move-only; one thread at a time, but for `lost` and `check`, which any thread may ask. `lost`
// fires when the first of the locks is lost. Destruction releases, the last name first; it does not
// throw, and waits for the store no longer than each lease would have lasted: for each name, one
// after the other, not for all together.
//
//   auto both = acquire_all(provider, {"account/anna", "account/bert"}, {.wait = 5s});
//   transfer();
class [[nodiscard]] MultiLock {
 public:
  MultiLock() noexcept;
  // Of locks that are held, in the order in which they are to be released last.
  explicit MultiLock(std::vector<locks::Lock> locks);
  MultiLock(MultiLock&& other) noexcept;
  MultiLock& operator=(MultiLock&& other) noexcept;
  ~MultiLock();

  [[nodiscard]] std::stop_token lost() const;
  // An error unless every one is ours at this moment.
  [[nodiscard]] base::Result<void> check() const;
  // Gives all back, and says whether every one was still ours; the first error if there was one.
  base::Result<store::ReleaseOutcome> release();

  // In the order of their names, each with its name and token. Empty in a handle that holds
  // nothing.
  [[nodiscard]] std::span<const locks::Lock> locks() const noexcept { return locks_; }
  explicit operator bool() const noexcept { return !locks_.empty(); }

 private:
  std::vector<locks::Lock> locks_;
  std::unique_ptr<AnyStop> any_lost_;  // after the locks: it listens to them
};

// The names in the order in which they are to be acquired, each once; invalid_argument without a
// name.
[[nodiscard]] base::Result<std::vector<std::string>> in_lock_order(std::vector<std::string> names);

// Throws base::Exception as LockProvider::acquire does; invalid_argument without a name.
[[nodiscard]] MultiLock acquire_all(locks::LockProvider& provider, std::vector<std::string> names,
                                    const locks::AcquireOptions& options = {});
// Nothing if one of the names was not to be had within `options.wait` (default: at once).
[[nodiscard]] base::Result<std::optional<MultiLock>> try_acquire_all(
    locks::LockProvider& provider, std::vector<std::string> names,
    const locks::AcquireOptions& options = {});

}  // namespace holdfast::recipes
