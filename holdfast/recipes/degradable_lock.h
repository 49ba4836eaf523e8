#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/lock.h>
#include <holdfast/store/outcome.h>

namespace holdfast::recipes {

// The callers that a DegradableLock excludes.
enum class Protection : std::uint8_t {
  full,        // all other users of the store
  local_only,  // the other callers of this provider: the store was unavailable
  none,        // no other caller: the store was unavailable
};

// Returns the enumerator's name.
[[nodiscard]] std::string_view to_string(Protection protection) noexcept;

// A name that is held, or used without being held because the store was unavailable; `protection`
// says which.
//
// Move-only; one thread at a time, except `lost` and `check`, which any thread may call. It may
// outlive its provider, like a Lock. A moved-from handle holds nothing.
//
// The protection is fixed at the grant: a handle without protection does not become protected when
// the store answers again, and one with full protection reports an outage through `lost`.
//
// Destruction does not throw, and waits no longer than that of Lock.
class [[nodiscard]] DegradableLock {
 public:
  DegradableLock() noexcept = default;
  DegradableLock(DegradableLock&& other) noexcept;
  DegradableLock& operator=(DegradableLock&& other) noexcept;
  ~DegradableLock() = default;

  // These two need a handle that holds.
  [[nodiscard]] Protection protection() const noexcept { return protection_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // Fires when `protection` can no longer be promised; with Protection::none, never.
  [[nodiscard]] std::stop_token lost() const { return kept().lost(); }
  // Returns an error (lost, or not_held after release) unless the protection is in force now.
  [[nodiscard]] base::Result<void> check() const;
  // Returns nullopt unless the protection is full: a resource must not compare tokens of different
  // stores.
  [[nodiscard]] std::optional<base::FencingToken> token() const;

  // Releases, and returns whether a lease was still held; without protection there was none.
  // Releasing twice is harmless.
  base::Result<store::ReleaseOutcome> release();

  [[nodiscard]] bool holds() const noexcept { return holds_; }
  explicit operator bool() const noexcept { return holds_; }

 private:
  friend class DegradableProvider;

  DegradableLock(std::string_view name, Protection protection, locks::Lock local,
                 locks::Lock shared);

  [[nodiscard]] const locks::Lock& kept() const noexcept {
    return protection_ == Protection::full ? shared_ : local_;
  }

  std::string name_;
  Protection protection_ = Protection::none;
  std::atomic<bool> holds_ = false;
  // In this order: the store's lock is released first, so that the next caller here finds it free.
  locks::Lock local_;
  locks::Lock shared_;
};

}  // namespace holdfast::recipes
