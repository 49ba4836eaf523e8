#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/log.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/base/ttl.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::recipes {

// `was_not_marked`: the mark had expired, was cleared or was replaced by another. Harmless.
enum class ClearOutcome : std::uint8_t { cleared, was_not_marked };

// The mark that a `Marker::try_mark` has set; cleared when the guard is destroyed.
//
// Move-only; one thread at a time. May outlive its Marker. A moved-from guard has no mark.
//
// Clears only its own mark: never one that replaced it with `Marker::mark`, nor one that was set
// after this one had expired. It is not renewed automatically; call `extend`.
//
// Each call, and destruction, waits for the store no longer than MarkerOptions::timeout.
// Destruction does not throw; a mark that it could not clear is logged, and expires. In a forked
// child destruction does nothing: the mark is the parent's.
class [[nodiscard]] MarkGuard {
 public:
  MarkGuard() noexcept = default;
  MarkGuard(MarkGuard&& other) noexcept = default;
  MarkGuard& operator=(MarkGuard&& other) noexcept;
  ~MarkGuard();

  // Extends the mark to at least this long from now. `lost`: it is not ours any more, and is not
  // restored.
  [[nodiscard]] base::Result<store::RenewOutcome> extend(base::Ttl ttl);
  // Clears the mark now instead of at destruction. Clearing twice is harmless.
  base::Result<ClearOutcome> clear();
  // Leaves the mark until it expires.
  void keep() noexcept { store_ = nullptr; }

  // Returns whether destruction would clear a mark: false after `clear`, `keep` and a move.
  [[nodiscard]] bool holds() const noexcept { return store_ != nullptr; }
  explicit operator bool() const noexcept { return holds(); }

 private:
  friend class Marker;

  MarkGuard(std::shared_ptr<store::LeaseStore> store, std::string name, const base::LeaseId& id,
            base::Duration timeout, base::Logger logger) noexcept;

  std::shared_ptr<store::LeaseStore> store_;  // null: nothing to clear
  std::string name_;
  base::LeaseId id_;
  base::Duration timeout_{};
  base::Logger logger_;
  base::ProcessMark process_;  // that has set the mark
};

}  // namespace holdfast::recipes
