#include <holdfast/recipes/degradable_lock.h>

#include <utility>

namespace holdfast::recipes {

using base::Result;
using store::ReleaseOutcome;

std::string_view to_string(Protection protection) noexcept {
  switch (protection) {
    case Protection::full: return "full";
    case Protection::local_only: return "local_only";
    case Protection::none: return "none";
  }
  return "unrecognised";
}

DegradableLock::DegradableLock(std::string_view name, Protection protection, locks::Lock local,
                               locks::Lock shared)
    : name_(name),
      protection_(protection),
      holds_(true),
      local_(std::move(local)),
      shared_(std::move(shared)) {}

DegradableLock::DegradableLock(DegradableLock&& other) noexcept
    : name_(std::move(other.name_)),
      protection_(other.protection_),
      holds_(other.holds_.exchange(false)),
      local_(std::move(other.local_)),
      shared_(std::move(other.shared_)) {}

DegradableLock& DegradableLock::operator=(DegradableLock&& other) noexcept {
  if (this != &other) {
    const DegradableLock old(std::move(*this));
    name_ = std::move(other.name_);
    protection_ = other.protection_;
    holds_ = other.holds_.exchange(false);
    local_ = std::move(other.local_);
    shared_ = std::move(other.shared_);
  }
  return *this;
}

Result<void> DegradableLock::check() const {
  if (!holds_) {
    return base::fail(base::ErrorCode::not_held, "the lock was released");
  }
  return protection_ == Protection::none ? Result<void>() : kept().check();
}

std::optional<base::FencingToken> DegradableLock::token() const {
  return protection_ == Protection::full && shared_.hold() != nullptr
             ? std::optional(shared_.token())
             : std::nullopt;
}

Result<ReleaseOutcome> DegradableLock::release() {
  holds_ = false;
  auto outcome = shared_.release();
  auto local = local_.release();
  return protection_ == Protection::local_only ? std::move(local) : std::move(outcome);
}

}  // namespace holdfast::recipes
