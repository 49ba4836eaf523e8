#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/fence/fence.h>

namespace holdfast::fence {

struct FenceGuardOptions {
  // How many keys are remembered at most.
  std::size_t max_keys = 1'000'000;
};

namespace internal {

struct GuardedKey {
  Fence fence;
  std::mutex inside;  // of who has the pass
};

}  // namespace internal

// The right to change a guarded resource until the end of the scope. Move-only; give it up in the
// thread that got it.
class [[nodiscard]] FencePass {
 public:
  FencePass(FencePass&&) noexcept = default;
  FencePass& operator=(FencePass&&) = delete;

 private:
  friend class FenceGuard;
  explicit FencePass(std::shared_ptr<internal::GuardedKey> key)
      : key_(std::move(key)), inside_(key_->inside) {}

  std::shared_ptr<internal::GuardedKey> key_;  // outlives the lock on it
  std::unique_lock<std::mutex> inside_;
};

// The fencing tokens that the resources of one process have seen, by key: what a server asks before
// it does what a lock's holder wants.
//
// Thread-safe. `check` blocks for nobody; `enter` waits for those who are inside with the same key,
// as a mutex does, and is not re-entrant. It lives in memory: after a restart, `check` each key
// with the token that its resource has kept.
//
// A key stands for what one lock's name protects: tokens of two names do not compare. It takes
// memory until `forget`; nothing is forgotten unasked, because a forgotten key lets an old token
// in.
//
// Guaranteed: once a token was accepted for a key, a smaller one is refused, an equal one accepted.
// While somebody is inside, nobody else is: what is done with an old token is done before a newer
// one is let in.
// Not guaranteed by `check` alone: that nobody with a newer token comes before the caller is done.
//
// Errors: lost, where the token is refused; limit_exceeded for a new key when there are max_keys.
//
//   FenceGuard guard;
//   auto pass = guard.enter(request.account, request.token);
//   if (!pass) return refuse(request, pass.error());
//   accounts.change(request);   // nobody else is at it, nobody newer was
class FenceGuard {
 public:
  explicit FenceGuard(FenceGuardOptions options = {}) : options_(options) {}
  FenceGuard(const FenceGuard&) = delete;
  FenceGuard& operator=(const FenceGuard&) = delete;

  [[nodiscard]] base::Result<void> check(std::string_view key, base::FencingToken token);
  [[nodiscard]] base::Result<FencePass> enter(std::string_view key, base::FencingToken token);

  // Nothing for a key that no token was checked for.
  [[nodiscard]] std::optional<base::FencingToken> newest(std::string_view key) const;

  // For a resource that is gone, when no request for it can come any more: the key then begins
  // anew, with any token.
  void forget(std::string_view key);

  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  using Entry = std::shared_ptr<internal::GuardedKey>;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const noexcept {
      return std::hash<std::string_view>{}(key);
    }
  };

  struct alignas(64) Shard {
    mutable std::shared_mutex mutex;
    std::unordered_map<std::string, Entry, Hash, std::equal_to<>> keys;  // protected by mutex
  };

  static constexpr std::size_t kShards = 32;

  [[nodiscard]] const Shard& shard_of(std::string_view key) const noexcept;
  [[nodiscard]] Shard& shard_of(std::string_view key) noexcept;
  [[nodiscard]] Entry find(std::string_view key) const;
  [[nodiscard]] base::Result<Entry> find_or_add(std::string_view key);

  const FenceGuardOptions options_;
  std::atomic<std::size_t> size_{0};
  std::array<Shard, kShards> shards_;
};

}  // namespace holdfast::fence
