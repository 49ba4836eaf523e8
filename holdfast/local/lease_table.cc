#include <holdfast/local/lease_table.h>

#include <holdfast/local/internal/lease_shards.h>
#include <holdfast/local/internal/lease_sweeper.h>

namespace holdfast::local {

namespace {

using base::ErrorCode;
using base::Result;
using internal::LeaseShards;

[[gnu::cold]] base::Error empty_argument(std::string_view key) {
  return {ErrorCode::invalid_argument, key.empty()
                                           ? "the key is empty: name what is to be locked"
                                           : "the owner is empty: name who is to hold the lock"};
}

[[gnu::cold]] base::Error not_held(std::string_view what) {
  return {ErrorCode::not_held, std::string(what)};
}

const base::Clock& checked_clock(const LeaseTableOptions& options) {
  if (options.clock == nullptr) {
    base::throw_error({ErrorCode::invalid_argument, "LeaseTableOptions::clock is null"});
  }
  if (options.sweep_every < base::Duration::zero()) {
    base::throw_error({ErrorCode::invalid_argument,
                       "LeaseTableOptions::sweep_every is negative: use zero for no sweep"});
  }
  return *options.clock;
}

}  // namespace

LeaseTable::LeaseTable(LeaseTableOptions options)
    : shards_(std::make_unique<LeaseShards>(checked_clock(options))),
      sweeper_(std::make_unique<internal::LeaseSweeper>(*shards_, std::move(options))) {}

LeaseTable::~LeaseTable() = default;

Result<std::optional<base::FencingToken>> LeaseTable::try_lock(std::string_view key,
                                                               std::string_view owner,
                                                               base::Ttl ttl) {
  if (key.empty() || owner.empty()) [[unlikely]] {
    return std::unexpected(empty_argument(key));
  }
  const std::int64_t expiry = shards_->expiry_after(ttl);
  if (expiry == LeaseShards::kNoExpiry) [[unlikely]] {
    return std::unexpected(base::expiry_error(ttl));
  }
  const std::uint64_t token = shards_->try_lock(key, owner, expiry);
  if (token == LeaseShards::kRefused) {
    return std::nullopt;
  }
  return base::FencingToken(token);
}

Result<base::FencingToken> LeaseTable::renew(std::string_view key, std::string_view owner,
                                             base::Ttl ttl) {
  if (key.empty() || owner.empty()) [[unlikely]] {
    return std::unexpected(empty_argument(key));
  }
  const std::int64_t expiry = shards_->expiry_after(ttl);
  if (expiry == LeaseShards::kNoExpiry) [[unlikely]] {
    return std::unexpected(base::expiry_error(ttl));
  }
  const std::uint64_t token = shards_->renew(key, owner, expiry);
  if (token == LeaseShards::kRefused) {
    return std::unexpected(not_held("the lease to renew has expired or is not this owner's"));
  }
  return base::FencingToken(token);
}

Result<void> LeaseTable::unlock(std::string_view key) {
  if (key.empty()) [[unlikely]] {
    return std::unexpected(empty_argument(key));
  }
  if (!shards_->unlock(key, LeaseShards::kAnyOwner)) {
    return std::unexpected(not_held("no lease on this key"));
  }
  return {};
}

Result<void> LeaseTable::unlock(std::string_view key, std::string_view owner) {
  if (key.empty() || owner.empty()) [[unlikely]] {
    return std::unexpected(empty_argument(key));
  }
  if (!shards_->unlock(key, owner)) {
    return std::unexpected(not_held("no lease of this owner on this key"));
  }
  return {};
}

Result<void> LeaseTable::unlock(std::string_view key, base::FencingToken token) {
  if (key.empty()) [[unlikely]] {
    return std::unexpected(empty_argument(key));
  }
  if (!shards_->unlock(key, token.value())) {
    return std::unexpected(not_held("the lease with this token has ended"));
  }
  return {};
}

bool LeaseTable::is_locked_by(std::string_view key, std::string_view owner) const {
  return !owner.empty() && shards_->is_guarded(key, owner);
}

bool LeaseTable::is_lock_expired(std::string_view key) const {
  return !shards_->is_guarded(key, LeaseShards::kAnyOwner);
}

std::optional<base::Duration> LeaseTable::time_left(std::string_view key) const {
  return shards_->time_left(key);
}

std::size_t LeaseTable::size() const { return shards_->size(); }
std::vector<LeaseInfo> LeaseTable::snapshot() const { return shards_->snapshot(); }
SweepReport LeaseTable::sweep_now() { return sweeper_->sweep({}); }
std::uint64_t LeaseTable::sweeps() const noexcept { return sweeper_->background_sweeps(); }

}  // namespace holdfast::local
