#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::recipes {

// A name that up to N may hold at a time, or fewer who take several permits each.
//
// Thread-safe. Outlived by its provider; its locks may outlive it. What blocks, for how long and
// how it is cancelled: as LockProvider::acquire does. All who use the name say the same N, which is
// ErrorCode::conflict otherwise, for as long as somebody holds a permit.
//
// Several permits are taken in one step, all or none. Who waits for several is not passed by those
// who want fewer; should it die while it waits, they are let in again after kHoldsBack. Who only
// tries (a wait of zero) holds nobody back. Of those who wait for several, the store remembers
// eight (store::Claim::kMaxWaiting) of a name at a time; further ones may be passed. The permits of
// one that died are back within its ttl.
//
// Not promised: an order among those who want as many.
//
//   Semaphore gpus(provider, "gpus", 4);
//   auto one = gpus.acquire();
//   auto all = gpus.drain({.wait = 1min});   // everybody else has ended, and nobody begins
class Semaphore {
 public:
  // AcquireOptions::holds_back where it is not given.
  static constexpr base::Duration kHoldsBack = std::chrono::seconds(5);

  // `capacity` is at least 1, or base::Exception: invalid_argument.
  Semaphore(locks::LockProvider& provider, std::string name, std::uint32_t capacity);

  // `options.permits` is not looked at. As LockProvider::acquire and try_acquire.
  [[nodiscard]] locks::Lock acquire(std::uint32_t permits = 1,
                                    const locks::AcquireOptions& options = {});
  [[nodiscard]] base::Result<std::optional<locks::Lock>> try_acquire(
      std::uint32_t permits = 1, const locks::AcquireOptions& options = {});
  // All permits. Until the lock is released, or reduced, nobody else has one.
  [[nodiscard]] locks::Lock drain(const locks::AcquireOptions& options = {});
  [[nodiscard]] base::Result<std::optional<locks::Lock>> try_drain(
      const locks::AcquireOptions& options = {});

  // How many are free at this moment; who waits for several may still hold others back.
  [[nodiscard]] base::Result<std::uint32_t> available();
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }

  // How a provider is asked for so many permits of all.
  [[nodiscard]] static locks::AcquireOptions taking(store::Permits permits,
                                                    locks::AcquireOptions options);
  // How many of the capacity are free where this is what the store says.
  [[nodiscard]] static base::Result<std::uint32_t> free_permits(
      std::uint32_t capacity, const base::Result<std::optional<store::NameState>>& state);
  // The capacity, if it can be one; else it throws base::Exception: invalid_argument.
  [[nodiscard]] static std::uint32_t checked(std::uint32_t capacity);

 private:
  locks::LockProvider& provider_;
  const std::string name_;
  const std::uint32_t capacity_;
};

}  // namespace holdfast::recipes
