#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include <holdfast/base/clock.h>

namespace holdfast::locks {
class Hold;
}  // namespace holdfast::locks

namespace holdfast::locks::internal {

using DueSlot = std::deque<Hold*>;

// The place of a hold in a DueIndex, so that it finds it again at once. Belongs to the index.
struct DuePlace {
  DueSlot* slot = nullptr;  // null: not in the index
  std::size_t index = 0;
};

// Holds in the order of a time at which something is due for them: no I/O, no threads, no clock.
// Not thread-safe, and owns no hold.
//
// Times that lie close together share a slot: the further ahead a time, the wider its slot, but no
// wider than a sixteenth of what is left until then, so that a hold is due early by that much at
// most and never late. What is due within 16 ms is due exactly. So there are few slots, however
// many holds; to put or remove a hold costs the same with ten as with a million, and to take those
// that are due costs nothing for the others.
class DueIndex {
 public:
  // `place` is the member of a hold that this index may use.
  explicit DueIndex(DuePlace Hold::* place) noexcept : place_(place) {}

  // Adds a hold that is not in the index. Returns the time at which it is due.
  base::TimePoint put(Hold& hold, base::TimePoint when, base::TimePoint now);
  // Does nothing if the hold is not in the index.
  void remove(Hold& hold) noexcept;
  // Removes the holds that are due, earliest first and `most` at a time, and appends them to `due`.
  void take_due(base::TimePoint now, std::size_t most, std::vector<Hold*>& due);

  // Returns a time before which no hold is due. TimePoint::max() if there is none.
  [[nodiscard]] base::TimePoint next() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // Returns how many holds take_due() has looked at so far, for tests of its cost.
  [[nodiscard]] std::uint64_t visits() const noexcept { return visits_; }

 private:
  DuePlace Hold::* const place_;
  // A slot that has become empty stays until its time has come: the next hold often needs it again.
  std::map<base::TimePoint, DueSlot> slots_;
  std::size_t size_ = 0;
  std::uint64_t visits_ = 0;
};

}  // namespace holdfast::locks::internal
