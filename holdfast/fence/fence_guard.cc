#include <holdfast/fence/fence_guard.h>

#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/fence/refusal.h>

namespace holdfast::fence {

using base::ErrorCode;
using base::FencingToken;
using base::Result;

Result<void> FenceGuard::check(std::string_view key, FencingToken token) {
  if (auto checked = check_not_far_ahead(token); !checked) {
    return checked;
  }
  HOLDFAST_TRY_LET(const auto entry, find_or_add(key));
  Fence& fence = entry->fence;
  if (!fence.check(token)) {
    return std::unexpected(refusal(token, fence.newest()));
  }
  return {};
}

Result<FencePass> FenceGuard::enter(std::string_view key, FencingToken token) {
  HOLDFAST_TRY(check_not_far_ahead(token));
  HOLDFAST_TRY_LET(auto entry, find_or_add(key));
  Fence& fence = entry->fence;
  FencePass pass(std::move(entry));
  // Check only now: while we waited, a newer token may have entered.
  if (!fence.check(token)) {
    return std::unexpected(refusal(token, fence.newest()));
  }
  return pass;
}

std::optional<FencingToken> FenceGuard::newest(std::string_view key) const {
  const Entry entry = find(key);
  return entry != nullptr ? std::optional(entry->fence.newest()) : std::nullopt;
}

void FenceGuard::forget(std::string_view key) {
  Shard& shard = shard_of(key);
  const std::scoped_lock lock(shard.mutex);
  if (const auto found = shard.keys.find(key); found != shard.keys.end()) {
    shard.keys.erase(found);
    size_.fetch_sub(1, std::memory_order_relaxed);
  }
}

const FenceGuard::Shard& FenceGuard::shard_of(std::string_view key) const noexcept {
  return shards_[Hash{}(key) / 64 % kShards];  // not the bits that choose the bucket
}

FenceGuard::Shard& FenceGuard::shard_of(std::string_view key) noexcept {
  return const_cast<Shard&>(std::as_const(*this).shard_of(key));
}

FenceGuard::Entry FenceGuard::find(std::string_view key) const {
  const Shard& shard = shard_of(key);
  const std::shared_lock lock(shard.mutex);
  const auto found = shard.keys.find(key);
  return found != shard.keys.end() ? found->second : nullptr;
}

Result<FenceGuard::Entry> FenceGuard::find_or_add(std::string_view key) {
  if (Entry entry = find(key)) {
    return entry;
  }
  Shard& shard = shard_of(key);
  const std::scoped_lock lock(shard.mutex);
  if (const auto found = shard.keys.find(key); found != shard.keys.end()) {
    return found->second;
  }
  if (size_.fetch_add(1, std::memory_order_relaxed) >= options_.max_keys) {
    size_.fetch_sub(1, std::memory_order_relaxed);
    return base::fail(ErrorCode::limit_exceeded,
                      "the guard remembers " + std::to_string(options_.max_keys) +
                          " keys already and takes no other: forget those that are gone, or raise "
                          "FenceGuardOptions::max_keys");
  }
  try {
    return shard.keys.emplace(key, std::make_shared<internal::GuardedKey>()).first->second;
  } catch (...) {
    size_.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
}

}  // namespace holdfast::fence
