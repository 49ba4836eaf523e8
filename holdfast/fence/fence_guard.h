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
  // The greatest number of keys that are remembered.
  std::size_t max_keys = 1'000'000;
};

namespace internal {

struct GuardedKey {
  Fence fence;
  std::mutex inside;  // held with the pass
};

}  // namespace internal

// The right to change a guarded resource until the end of the scope. Move-only; destroy it in the
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

// The fencing tokens that the resources of one process have seen, by key. A server checks them
// before it serves the holder of a lock.
//
// Thread-safe. `check` does not block; `enter` waits for the current pass of the same key, as a
// mutex does, and is not re-entrant. It lives in memory: after a restart, `check` each key with the
// token that its resource has stored.
//
// A key stands for the resource of one lock name: tokens of two names cannot be compared. It takes
// memory until `forget`. No key is forgotten automatically, because a forgotten key would accept a
// stale token.
//
// Guaranteed: once a token was accepted for a key, a smaller one is rejected, an equal one
// accepted. A key has one pass at a time: work under an older token is finished before a newer
// token enters. Not guaranteed by `check` alone: that no newer token is accepted before the caller
// is done.
//
// Errors: lost if the token is stale; invalid_argument if it is far ahead of the wall clock
// (far_ahead.h), and then nothing is remembered; limit_exceeded for a new key when there are
// max_keys.
//
//   FenceGuard guard;
//   auto pass = guard.enter(request.account, request.token);
//   if (!pass) return refuse(request, pass.error());
//   accounts.change(request);   // no other caller is inside, and no newer token was seen
class FenceGuard {
 public:
  explicit FenceGuard(FenceGuardOptions options = {}) : options_(options) {}
  FenceGuard(const FenceGuard&) = delete;
  FenceGuard& operator=(const FenceGuard&) = delete;

  [[nodiscard]] base::Result<void> check(std::string_view key, base::FencingToken token);
  [[nodiscard]] base::Result<FencePass> enter(std::string_view key, base::FencingToken token);

  // Returns nullopt for a key without a checked token.
  [[nodiscard]] std::optional<base::FencingToken> newest(std::string_view key) const;

  // Forgets a key whose resource no longer exists, when no more requests for it can come: the key
  // then starts again, with any token.
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
