#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>

#include "apps/holdfast/cli/entries.h"
#include "apps/holdfast/serve/snapshot.h"
#include "apps/holdfast/watching/lease_history.h"

namespace holdfast::cli::serve {

enum class HoldEnd : std::uint8_t {
  released,  // or handed over, or stolen by another program
  expired,
  stolen,   // through this server
  unknown,  // released or expired
};

// A hold that has ended.
struct PastHold {
  store::Holder holder;  // as it was seen last
  base::TimePoint from{};
  base::TimePoint until{};
  HoldEnd end = HoldEnd::released;
  std::optional<base::Duration> waited{};  // by a waiter that was seen
};

// A wait that has ended.
struct PastWait {
  std::string owner{};
  std::string reason{};
  base::TimePoint from{};
  base::TimePoint until{};
  bool granted = false;  // else given up, or ended
};

struct NameHistory {
  std::deque<PastHold> holds{};  // oldest first
  std::deque<PastWait> waits{};
};

// The whole store at one time.
struct Sample {
  base::TimePoint when{};
  std::size_t held = 0;
  std::size_t waiters = 0;
  std::uint64_t acquired = 0;  // since the sample before
  std::uint64_t ended = 0;
  std::uint64_t expired = 0;
  base::Duration took{};
};

struct Totals {
  std::uint64_t acquired = 0;
  std::uint64_t released = 0;
  std::uint64_t expired = 0;
  std::uint64_t stolen = 0;
  std::uint64_t ended = 0;  // released or expired
};

// The past of every name, made out of snapshots: its holders and waiters, and their times. No I/O,
// no threads, no clock.
//
// Bounded: it keeps the last kMostPerName holds and waits of a name. If all of them take more than
// `budget` bytes, it forgets the names that have changed least recently. Not promised: a hold
// between two snapshots is not seen.
class Chronicle {
 public:
  static constexpr std::size_t kMostPerName = 200;
  static constexpr std::size_t kMostEvents = 500;
  static constexpr std::size_t kMostSamples = 360;
  static constexpr std::chrono::seconds kSampleEvery{10};

  explicit Chronicle(std::size_t budget) : budget_(budget) {}

  void update(const Snapshot& snapshot);
  // Notes that this lease is about to be stolen through this server.
  void note_steal(const base::LeaseId& id);
  // Forgets that: it was not stolen.
  void forget_steal(const base::LeaseId& id);

  [[nodiscard]] NameHistory of(const std::string& name) const;
  // The newest last.
  [[nodiscard]] const std::deque<LeaseEvent>& events() const noexcept { return events_; }
  [[nodiscard]] const std::deque<Sample>& samples() const noexcept { return samples_; }
  [[nodiscard]] const Totals& totals() const noexcept { return totals_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct WaitKey {
    std::string name;
    base::LeaseId id;
    friend auto operator<=>(const WaitKey&, const WaitKey&) = default;
  };
  struct OpenWait {
    std::string owner{};
    std::string reason{};
    base::TimePoint from{};
    std::optional<base::TimePoint> missing_since{};
  };
  struct Known {
    NameHistory history{};
    std::size_t bytes = 0;
    std::list<std::string>::iterator age{};
  };

  void take_event(const LeaseEvent& event);
  void take_waits(const Snapshot& snapshot);
  void take_sample(const Snapshot& snapshot);
  // Returns the records of a name that changes now, `more` bytes of them new.
  Known& touch(const std::string& name, std::size_t more);
  void remember(const std::string& name, PastHold hold);
  void remember(const std::string& name, PastWait wait);
  void forget_oldest();

  const std::size_t budget_;
  std::size_t bytes_ = 0;
  LeaseHistory leases_;
  std::unordered_map<std::string, Known> names_;
  std::list<std::string> ages_;  // of names_, the one that changed least recently first
  base::TimePoint last_{};       // of the snapshot before
  std::map<WaitKey, OpenWait> waiting_;
  std::map<base::LeaseId, base::Duration> waited_;  // of the holds that began after a wait
  std::deque<base::LeaseId> stolen_;                // whose end was not seen yet
  std::deque<LeaseEvent> events_;
  std::deque<Sample> samples_;
  Sample next_;
  Totals totals_;
};

}  // namespace holdfast::cli::serve
