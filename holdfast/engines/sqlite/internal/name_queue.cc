#include <holdfast/engines/sqlite/internal/name_queue.h>

#include <holdfast/base/try.h>
#include <holdfast/store/lease_rules.h>

namespace holdfast::engines::sqlite::internal {

namespace rules = store::lease_rules;
using base::LeaseId;
using base::Result;
using store::Instant;
using store::Record;

Result<void> NameQueue::give(Record& record, const LeaseId& asker, const Instant& now) {
  if (!may_have_members_ || !rules::is_tombstone(record, now)) [[likely]] {
    return {};
  }
  HOLDFAST_TRY_LET(const std::optional<Queue::Member> first,
                   queue_.pop(name_, now.time, is_alive_));
  if (!first) {
    return {};
  }
  const Queue::Member& member = *first;
  if (member.id == asker) {
    left_.push_back(asker);
    return {};
  }
  const base::Duration ttl =
      member.address == WakeBoard::kNoAddress ? Queue::kForgottenWithoutAddress : kUnconfirmed;
  HOLDFAST_TRY(rules::claim(
      record, {.id = member.id, .owner = member.owner, .reason = member.reason, .ttl = ttl}, now));
  given_ = Given{.to = member.address, .id = member.id};
  return {};
}

Result<std::uint32_t> NameQueue::wait(const store::Claim& claim, const Instant& now) {
  const WakeBoard::Address address = watchers_.address();
  std::optional<Queue::Place> place = place_of(claim.id);
  if (place) {
    HOLDFAST_TRY_LET(const bool is_kept, queue_.keep(name_, *place, claim.id, address, now.time));
    place = is_kept ? place : std::nullopt;
  }
  if (!place) {
    HOLDFAST_TRY_LET(place, queue_.join(name_, claim, address, now.time));
  }
  // Also where it has joined before: the process may not have watched the name then.
  joined_ = Joined{.id = claim.id, .place = *place};
  HOLDFAST_TRY_LET(
      const std::uint32_t ahead,
      queue_.ahead_of(name_, *place, store::Busy::kMaxPosition - 1, now.time, is_alive_));
  return ahead + 1;
}

Result<void> NameQueue::leave(const LeaseId& id) {
  const auto place = place_of(id);
  if (!place) [[likely]] {
    return {};
  }
  left_.push_back(id);
  return queue_.leave(name_, *place, id);
}

void NameQueue::settle(Watchers& watchers) {
  for (const LeaseId& id : left_) {
    places_.erase({id, std::string(name_)});
    watchers.set_queued(name_, id, Watchers::Queued::no);
  }
  if (joined_) {
    places_.insert_or_assign({joined_->id, std::string(name_)}, joined_->place);
    watchers.set_queued(name_, joined_->id, Watchers::Queued::yes);
  }
}

std::optional<Queue::Place> NameQueue::place_of(const LeaseId& id) const {
  if (places_.empty()) [[likely]] {
    return std::nullopt;
  }
  const auto found = places_.find({id, std::string(name_)});
  return found != places_.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace holdfast::engines::sqlite::internal
