#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>
#include <holdfast/store/outcome.h>

namespace holdfast::cli {

struct LeaseEvent {
  enum class Kind : std::uint8_t {
    held,      // it was there when the watch began
    acquired,  // it is new
    released,  // it ended before its time: released, handed over or stolen
    expired,   // it is gone when its time was over, and no renewal had come when one was due
    ended,     // released or expired: it may have been renewed since it was seen last
  };

  Kind kind;
  std::string name;
  store::Holder holder;  // as it was seen last
  // When it happened, as far as is known: between this snapshot and the one before.
  base::TimePoint when;
};

// The enumerator's own spelling.
[[nodiscard]] std::string_view to_string(LeaseEvent::Kind kind) noexcept;

// Makes events out of snapshots: no I/O, no threads, no clock. What came and went between two
// snapshots is not seen.
class LeaseHistory {
 public:
  // Returns what has happened since the last snapshot, in the order of time; for a name, the loss
  // of one holder before the acquisition of the next.
  std::vector<LeaseEvent> update(base::TimePoint now, const std::vector<store::NameState>& names);

 private:
  struct Seen {
    store::Holder holder;
    base::TimePoint expires;
    base::Duration most_left;  // the most that was ever seen left of it
  };
  // All locks of other programs have the nil id: the owner tells them apart.
  struct Key {
    std::string name;
    base::LeaseId id;
    std::string foreign_owner;

    friend auto operator<=>(const Key&, const Key&) = default;
  };

  std::map<Key, Seen> seen_;
  std::optional<base::TimePoint> last_;  // of the snapshot before
};

}  // namespace holdfast::cli
