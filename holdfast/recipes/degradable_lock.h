#pragma once

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

// From whom a DegradableLock protects.
enum class Protection : std::uint8_t {
  full,        // everybody who uses the store
  local_only,  // the other callers of this provider: the store was unavailable
  none,        // nobody: the store was unavailable
};

// The enumerator's own spelling.
[[nodiscard]] std::string_view to_string(Protection protection) noexcept;

// A name that is held, or that is used without being held because the store was unavailable; which
// of the two, `protection` says.
//
// Move-only; one thread at a time, but for `lost` and `check`, which any thread may ask. It may
// outlive its provider, as a Lock may. A moved-from handle holds nothing.
//
// The protection is that of the grant and does not change while it is held: one without protection
// does not become protected when the store is back, and one with full protection tells of an outage
// by `lost`.
//
// Destruction does not throw, and is bounded as that of Lock is.
class [[nodiscard]] DegradableLock {
 public:
  DegradableLock() noexcept = default;
  DegradableLock(DegradableLock&& other) noexcept;
  DegradableLock& operator=(DegradableLock&& other) noexcept;
  ~DegradableLock() = default;

  // Of a handle that holds.
  [[nodiscard]] Protection protection() const noexcept { return protection_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // Fires when what `protection` says can no longer be promised; with none, never.
  [[nodiscard]] std::stop_token lost() const { return kept().lost(); }
  // An error (lost, or not_held after release) unless it is as `protection` says at this moment.
  [[nodiscard]] base::Result<void> check() const;
  // Nothing unless the protection is full: a resource must not compare tokens of different stores.
  [[nodiscard]] std::optional<base::FencingToken> token() const;

  // Whether a lease was still held; with no protection there was none. Twice is harmless.
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
  bool holds_ = false;
  // In this order: at the end the store's goes first, so that whoever is let in here finds it free.
  locks::Lock local_;
  locks::Lock shared_;
};

}  // namespace holdfast::recipes
