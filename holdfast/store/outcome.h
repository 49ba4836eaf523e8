#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <variant>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/name.h>
#include <holdfast/base/text_format.h>

// The answers of the operations of a LeaseStore. Times are durations by the store's own clock,
// counted from the moment at which it decided.
namespace holdfast::store {

// The claim is granted.
struct Grant {
  base::FencingToken token;
  base::Duration time_left;

  friend bool operator==(const Grant&, const Grant&) = default;
};

// One live lease.
struct Holder {
  base::LeaseId id;
  std::string owner;
  std::string reason;
  std::uint32_t permits = 1;
  base::FencingToken token;
  base::Duration held_for;
  base::Duration time_left;
  bool foreign = false;  // taken by a program that is not Holdfast

  friend bool operator==(const Holder&, const Holder&) = default;
};

// Returns one line for a log: Holder { id = …, owner = "web1", reason = "", permits = 1, … }.
std::string to_string(const Holder& holder);
std::ostream& operator<<(std::ostream& out, const Holder& holder);

// The claim has to wait.
struct Busy {
  static constexpr std::size_t kMaxHolders = 16;

  // The live leases, oldest first; of more than kMaxHolders, those that end first. LeaseStore::look
  // returns all.
  std::vector<Holder> holders;
  // The time until enough leases and waits will have expired, if no caller renews, releases or asks
  // again. Of a name with very many holders it may be shorter, never longer.
  base::Duration frees_in;
  // The store may still grant the name to this claim (see Claim::waits): a caller that gives up
  // must release it, as if it was held.
  bool pending = false;
  // The claim's position in the store's queue: 1 for the first. Past Busy::kMaxPosition the store
  // need not count. Zero if the store does not say, or is not sure that it can notify the waiter.
  std::uint32_t position = 0;

  static constexpr std::uint32_t kMaxPosition = 20;

  friend bool operator==(const Busy&, const Busy&) = default;
};

using ClaimOutcome = std::variant<Grant, Busy>;

// `lost`: the lease has expired, was replaced or removed. It is never brought back.
// `failed`: the store could not renew this lease because its own record is damaged or was refused.
// The lease may still be held, and the renewal may be sent again until the lease expires.
enum class RenewOutcome : std::uint8_t { renewed, lost, failed };

// `not_held`: it was not there any more. Harmless: nothing was removed.
enum class ReleaseOutcome : std::uint8_t { released, not_held };

// `lost`: the lease to hand over was not there any more; nothing has changed.
struct Lost {
  friend bool operator==(const Lost&, const Lost&) = default;
};
// Another waits for more and holds such as this one back (see Claim::holds_back), or the store
// leaves the name free for clients that poll, for which `to` must be a claim that waits: nothing
// has changed.
struct HeldBack {
  friend bool operator==(const HeldBack&, const HeldBack&) = default;
};
using TransferOutcome = std::variant<Grant, Lost, HeldBack>;

// One name and its live leases, oldest first.
struct NameState {
  base::Name name;
  std::uint32_t capacity = 1;
  std::vector<Holder> holders;

  friend bool operator==(const NameState&, const NameState&) = default;
};

// Returns one line for a log: NameState { name = "a", capacity = 1, holders = […] }.
std::string to_string(const NameState& state);
std::ostream& operator<<(std::ostream& out, const NameState& state);

struct PageRequest {
  std::size_t limit = 100;  // 1 to 1,000
  std::string after{};      // the `next` of the page before; empty for the first
};

// Names in byte order. A name that is held from the first page to the last is on exactly one of
// them. A page may have fewer names than its limit, or none, and still not be the last: only `next`
// says so.
struct Page {
  std::vector<NameState> names;
  std::string next;  // empty: this was the last page

  friend bool operator==(const Page&, const Page&) = default;
};

// The outcome of a Hit.
struct HitOutcome {
  bool allowed = false;
  std::uint32_t hits = 0;       // that count now, these included if they were allowed
  std::uint32_t remaining = 0;  // still allowed now
  base::Duration resets_in;     // until none of them counts any more; zero if there are none
  base::Duration
      retry_after;  // until as many would be allowed, if nobody else hits; zero if allowed

  friend bool operator==(const HitOutcome&, const HitOutcome&) = default;
};

}  // namespace holdfast::store

template <>
inline constexpr bool holdfast::base::kFormatsAsText<holdfast::store::Holder> = true;
template <>
inline constexpr bool holdfast::base::kFormatsAsText<holdfast::store::NameState> = true;
