#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace holdfast::simulation {

// A defect that a lock library has had, ours or a peer's. The simulation plants it between the
// machines and the rules, which stay as they are shipped, and has to find it.
enum class Bug : std::uint8_t {
  none,
  release_without_compare,
  token_restarts,
  validity_from_the_reply,
  renewal_recreates,
  orphan_after_a_lost_reply,
  no_poll,
  batch_fails_as_a_whole,
  grant_message_is_believed,
  cancel_leaves_the_claim,
  lost_at_a_tick,
  suspend_is_not_counted,
  check_then_set,
  lease_without_an_end,
  request_without_a_deadline,
  demoted_master_is_kept,
};

struct PlantedBug {
  Bug bug;
  std::string_view name;
  std::string_view what;  // for people
};

inline constexpr std::array<PlantedBug, 15> kPlantedBugs{{
    {Bug::release_without_compare, "release_without_compare",
     "a release deletes the lease of the name, even if another holds it"},
    {Bug::token_restarts, "token_restarts", "the tokens of a name that was released start at 1"},
    {Bug::validity_from_the_reply, "validity_from_the_reply",
     "a lease counts from the reply, not from when the claim was sent"},
    {Bug::renewal_recreates, "renewal_recreates",
     "a renewal sets the lease, even if it is gone or another holds the name"},
    {Bug::orphan_after_a_lost_reply, "orphan_after_a_lost_reply",
     "a claim whose reply was lost counts as not granted, and is never released"},
    {Bug::no_poll, "no_poll", "a waiter sleeps until a message wakes it, and messages can be lost"},
    {Bug::batch_fails_as_a_whole, "batch_fails_as_a_whole",
     "one lost lease makes the whole batch of renewals count as lost"},
    {Bug::grant_message_is_believed, "grant_message_is_believed",
     "a waiter takes the message for the grant, and counts the lease from its arrival"},
    {Bug::cancel_leaves_the_claim, "cancel_leaves_the_claim",
     "a caller that gives up does not release its claim, which may be granted just then"},
    {Bug::lost_at_a_tick, "lost_at_a_tick",
     "`lost` fires at the next renewal, not when the lease ends"},
    {Bug::suspend_is_not_counted, "suspend_is_not_counted",
     "the holder's clock stands still while its process is stopped"},
    {Bug::check_then_set, "check_then_set",
     "a claim looks whether the name is free, and takes it in a second step"},
    {Bug::lease_without_an_end, "lease_without_an_end",
     "the expiry of a lease is set in a second step, which gets lost"},
    {Bug::request_without_a_deadline, "request_without_a_deadline",
     "a request waits for its reply for ever"},
    {Bug::demoted_master_is_kept, "demoted_master_is_kept",
     "after a fail-over one process goes on with the old master"},
}};

[[nodiscard]] constexpr const PlantedBug* find_bug(std::string_view name) noexcept {
  for (const PlantedBug& planted : kPlantedBugs) {
    if (planted.name == name) {
      return &planted;
    }
  }
  return nullptr;
}

}  // namespace holdfast::simulation
