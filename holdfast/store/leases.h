#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>

namespace holdfast::store {

// One lease as a store keeps it. Times are of the store's clock.
struct StoredLease {
  base::LeaseId id;
  std::string owner;
  std::string reason;
  std::uint32_t permits = 1;
  base::FencingToken token;
  base::TimePoint granted;
  base::TimePoint expires;

  friend bool operator==(const StoredLease&, const StoredLease&) = default;
};

// The leases of one name, in the order in which they were granted.
//
// Not thread-safe. Up to `kPlain` of them are searched one by one; more have an index by id and one
// by the time at which they end. No operation on one lease then visits the others.
class Leases {
 public:
  static constexpr std::size_t kPlain = 16;
  using const_iterator = std::list<StoredLease>::const_iterator;

  Leases() noexcept;
  Leases(std::initializer_list<StoredLease> leases);
  Leases(const Leases& other);
  Leases(Leases&& other) noexcept;
  Leases& operator=(Leases other) noexcept;
  ~Leases();

  [[nodiscard]] bool empty() const noexcept { return leases_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return leases_.size(); }
  [[nodiscard]] const_iterator begin() const noexcept;
  [[nodiscard]] const_iterator end() const noexcept { return leases_.end(); }
  // Return the first and the last granted lease; there must be one.
  [[nodiscard]] const StoredLease& front() const noexcept { return leases_.front(); }
  [[nodiscard]] const StoredLease& back() const noexcept { return leases_.back(); }

  // Returns the lease with this id, or null. It stays where it is until it is removed.
  [[nodiscard]] const StoredLease* find(const base::LeaseId& id) const noexcept;
  // Returns the permits of all leases.
  [[nodiscard]] std::uint64_t used() const noexcept { return used_ + rest_.permits; }
  // Returns when the last lease ends; the least time if there are none.
  [[nodiscard]] base::TimePoint last_expiry() const noexcept;

  // Leases of the name that a store has not read, because the operation has no need of them.
  struct Rest {
    std::uint64_t permits = 0;
    base::TimePoint last_expiry = base::TimePoint::min();

    friend bool operator==(const Rest&, const Rest&) = default;
  };
  // used() and last_expiry() count the rest; nothing else sees it.
  void set_rest(const Rest& rest) noexcept { rest_ = rest; }
  [[nodiscard]] const Rest& rest() const noexcept { return rest_; }

  // Return up to `count` leases: the first to end first, and the last to end first. Leases that end
  // at the same time are in the order of their ids.
  [[nodiscard]] std::vector<const StoredLease*> first_to_end(std::size_t count) const;
  [[nodiscard]] std::vector<const StoredLease*> last_to_end(std::size_t count) const;

  // Adds a lease, the newest, and returns it.
  const StoredLease& insert(StoredLease lease);
  // Removes the lease with this id, if there is one.
  void erase(base::LeaseId id);
  // Lets the lease with this id, if there is one, end at `expires`.
  void extend(const base::LeaseId& id, base::TimePoint expires);
  // Removes the leases that end at `now` or before.
  void drop_ended(base::TimePoint now);
  void clear() noexcept;

  // Returns how many leases were visited by this thread, of whatever name: the cost of its
  // operations.
  [[nodiscard]] static std::uint64_t visits() noexcept;

  friend bool operator==(const Leases& one, const Leases& two) {
    return one.leases_ == two.leases_ && one.rest_ == two.rest_;
  }

 private:
  struct Index;
  using Place = std::list<StoredLease>::iterator;

  [[nodiscard]] std::optional<Place> place_of(const base::LeaseId& id) noexcept;
  void make_index();
  void remove(Place place);

  std::list<StoredLease> leases_;
  std::uint64_t used_ = 0;
  Rest rest_;
  std::unique_ptr<Index> index_;  // none for a few leases
};

}  // namespace holdfast::store
