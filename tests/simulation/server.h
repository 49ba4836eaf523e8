#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include <tests/simulation/world.h>

#include <holdfast/base/ids.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/notice.h>
#include <holdfast/store/record.h>

namespace holdfast::simulation {

using locks::steps::Answer;
using locks::steps::Step;

// A step of a procedure as it travels to the server.
struct Request {
  struct Renewal {
    int name;
    base::LeaseId id;
    base::Duration ttl;
  };

  Step::Kind kind = Step::Kind::done;
  int from = 0;  // the process
  int name = 0;
  base::LeaseId id{};
  store::Claim claim{.id = {}, .owner = {}, .reason = {}, .ttl = base::Duration::zero()};
  std::vector<Renewal> renewals{};
  bool listens = false;    // somebody there watches the name: a message reaches it
  bool is_queued = false;  // its claim may be in the queue: the answer takes it out, or leaves it
  bool is_early = false;   // it joins the queue before its process listens
  bool leaves = false;     // if it is refused, it leaves the queue
};

// Returns a failure as the answer to this kind of request.
[[nodiscard]] Answer failure(Step::Kind kind, base::ErrorCode code, const char* message);

// The server of a history: keeps leases by the shipped `store::lease_rules`, one request at a time,
// and does what the engines do beside them: a queue of claims for each name, a release that grants
// the name to the first whose process listens, hints to all others.
//
// Reports each change of a name to the checker.
class Server final : public Actor {
 public:
  using Publish = std::function<void(int process, int name, const store::Notice& notice)>;

  Server(World& world, Publish publish);

  // A watch that has begun is answered with `Woken`.
  [[nodiscard]] Answer handle(const Request& request);

  // The connection of a process that listens begins or ends.
  void listen(int process) { listening_.insert(process); }
  void stop_listening(int process) { listening_.erase(process); }
  // A process that no longer waits passes a hint on.
  void pass_on(int name);

  [[nodiscard]] bool is_up() const noexcept { return is_up_; }
  void shut_down();
  enum class Keeps : std::uint8_t { everything, nothing };
  // Comes up again. Returns whether it has lost a live lease.
  bool come_up(Keeps keeps);
  // From now on it keeps what a replica would have that lags so far behind.
  void replicate(base::Duration lag);
  // The replica takes over. Returns whether a live lease was lost.
  bool fail_over();
  // Somebody sets its clock. Returns whether that ends a live lease early, or makes one last
  // longer.
  bool move_clock(base::Duration by);

  [[nodiscard]] const DriftingClock& clock() const noexcept { return clock_; }
  // Returns the live lease with this id, or null.
  [[nodiscard]] const store::StoredLease* find_live(int name, const base::LeaseId& id) const;
  // Returns when the live lease with this id was granted, in true time.
  // Returns whether this lease is live, and not one that a release granted and no claim confirmed:
  // that ends by itself.
  [[nodiscard]] bool holds(int name, const base::LeaseId& id) const;
  [[nodiscard]] base::TimePoint granted_at(int name, const base::LeaseId& id) const;
  // Returns since when this claim is in the queue, in true time; nothing if it is not.
  [[nodiscard]] std::optional<base::TimePoint> queued_since(int name,
                                                            const base::LeaseId& id) const;
  // Calls `visit(name, lease)` for every live lease.
  template <class Visit>
  void for_each_lease(Visit&& visit) const {
    for (std::size_t name = 0; name < entries_.size(); ++name) {
      for (const store::StoredLease& lease : entries_[name].record.leases) {
        if (lease.expires > clock_.now()) {
          visit(static_cast<int>(name), lease);
        }
      }
    }
  }
  // Returns whether a name still has a live lease, a waiter, or somebody who holds others back.
  [[nodiscard]] bool has_leftovers();

 private:
  // A place in the queue: of a process, with one of its claims or without.
  struct Member {
    int process;
    base::LeaseId claim{};
    base::TimePoint since{};        // true time
    base::TimePoint early_until{};  // until then it counts as one whose process listens

    friend bool operator==(const Member& a, const Member& b) noexcept {
      return a.process == b.process && a.claim == b.claim;
    }
  };
  struct Entry {
    store::Record record;
    std::deque<Member> queue;
    base::TimePoint queue_ends{};  // nobody has said a word of it until then: it is forgotten
    std::set<int> watchers;        // of a store without a queue
  };
  struct Replicated {
    base::TimePoint when;
    std::size_t name;
    Entry entry;
  };

  [[nodiscard]] Entry& entry(int name) { return (*current_)[static_cast<std::size_t>(name)]; }
  [[nodiscard]] store::Instant now() const noexcept;

  Answer claim(const Request& request);
  void confirm(store::Record& record, const store::Claim& claim);
  Answer renew(const Request& request);
  store::RenewOutcome renew_one(const Request::Renewal& renewal);
  Answer transfer(const Request& request);
  Answer release(const Request& request);
  Answer watch(const Request& request);

  void wait_in(Entry& entry, const Member& member);
  [[nodiscard]] bool is_alive(const Member& member) const;
  void leave_queue(Entry& entry, const Member& member);
  void drop_old_queue(Entry& entry);
  // Grants the mutex that was just released to the first claim whose process listens.
  bool give(int name, const store::Instant& now);
  void wake_one(int name);
  void wake(int name);
  void catch_up();
  // Reports what was done to the checker, and to the replica.
  void done(int name, const Checker::Operation& operation);
  [[nodiscard]] std::vector<Checker::Lease> live(int name) const;
  void take_late(int name, const store::StoredLease& lease);

  World& world_;
  const Publish publish_;
  DriftingClock clock_;
  std::vector<Entry> entries_;
  std::vector<Entry> demoted_;  // of the master before
  std::vector<Entry>* current_ = &entries_;
  std::set<int> listening_;
  bool is_up_ = true;
  bool has_lost_data_ = false;
  base::TimePoint latest_{};  // that its clock has shown
  std::optional<base::Duration> lag_;
  std::deque<Replicated> under_way_;  // to the replica
  std::vector<Entry> replica_;
};

}  // namespace holdfast::simulation
