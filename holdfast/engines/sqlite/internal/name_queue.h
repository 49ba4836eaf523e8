#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/engines/sqlite/internal/queue.h>
#include <holdfast/engines/sqlite/internal/watchers.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/record.h>

namespace holdfast::engines::sqlite::internal {

// The queue of one name during one operation on its record. One thread at a time, within a
// transaction; what it has changed outside the file takes effect after the commit.
//
// The lease that give() writes lasts for two seconds until its holder confirms it with its claim:
// long enough for a live waiter, and a dead one does not keep the name for long. A waiter that
// nothing wakes must poll, and has as long as it is remembered (Queue::kForgottenWithoutAddress).
class NameQueue {
 public:
  static constexpr base::Duration kUnconfirmed = std::chrono::seconds(2);

  // The positions of this store's claims in their queues.
  using Places = std::map<std::pair<base::LeaseId, std::string>, Queue::Place>;

  // `may_have_members` is Loaded::has_queue. All outlive this.
  NameQueue(Queue& queue, Places& places, const Watchers& watchers, std::string_view name,
            bool may_have_members) noexcept
      : queue_(queue),
        places_(places),
        watchers_(watchers),
        is_alive_([&watchers](WakeBoard::Address address) { return watchers.is_alive(address); }),
        name_(name),
        may_have_members_(may_have_members) {}

  // If the name is free, grants the mutex to the first live claim in the queue. If that is `asker`,
  // it leaves the queue, and the name stays free for it.
  [[nodiscard]] base::Result<void> give(store::Record& record, const base::LeaseId& asker,
                                        const store::Instant& now);
  // Lets a claim wait, in the place that it has or at the end. Returns Busy::position, as if the
  // waiter can be notified.
  [[nodiscard]] base::Result<std::uint32_t> wait(const store::Claim& claim,
                                                 const store::Instant& now);
  [[nodiscard]] base::Result<void> leave(const base::LeaseId& id);

  // A claim that was granted, and where its process sleeps.
  struct Given {
    WakeBoard::Address to;
    base::LeaseId id;
  };
  // To be called after the commit.
  void settle(Watchers& watchers);
  [[nodiscard]] const std::optional<Given>& given() const noexcept { return given_; }

 private:
  struct Joined {
    base::LeaseId id;
    Queue::Place place;
  };

  [[nodiscard]] std::optional<Queue::Place> place_of(const base::LeaseId& id) const;

  Queue& queue_;
  Places& places_;
  const Watchers& watchers_;
  const Queue::IsAlive is_alive_;
  const std::string_view name_;
  bool may_have_members_;
  std::optional<Given> given_;
  std::optional<Joined> joined_;
  std::vector<base::LeaseId> left_;
};

}  // namespace holdfast::engines::sqlite::internal
