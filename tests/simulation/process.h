#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <tests/simulation/caller.h>
#include <tests/simulation/driver.h>
#include <tests/simulation/link.h>
#include <tests/simulation/world.h>

#include <holdfast/base/ids.h>
#include <holdfast/locks/internal/provider_core.h>
#include <holdfast/locks/internal/runtime.h>
#include <holdfast/store/lease_store.h>
#include <holdfast/store/watch_list.h>

namespace holdfast::simulation {

class AcquireRows;

// One process of a history: a shipped provider with its keeper, its queues and its callers, on a
// clock and a connection of its own. It also does what the client of an engine does: it knows which
// of its claims may be in the server's queue, and keeps a subscription.
class Process final : public Actor, private Surroundings {
 public:
  Process(World& world, Server& server, int number, AcquireRows& rows);
  ~Process() override;

  // Its callers begin.
  void start();
  // It is killed: nothing happens in it any more, and no message leaves it.
  void crash();
  // It ends in order: the provider is destroyed, its callers release what they hold.
  void end();
  // It runs again after it was stopped.
  void resume();
  // The history is over: whatever it still does ends soon, and touches nothing.
  void bury();

  void notice(int name, const store::Notice& notice) { link_.publish(name, notice); }
  // Somebody else sends a message to it.
  void forge(int name, const store::Notice& notice) { on_notice(name, notice); }
  // The subscription ended. It is made again as soon as the server can be reached.
  void lose_subscription();

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] Link& link() noexcept { return link_; }
  // Returns whether the store has not answered a release of this claim: it may still be in the
  // queue.
  [[nodiscard]] bool is_release_unanswered(const base::LeaseId& id) const {
    return unanswered_.contains(id);
  }
  [[nodiscard]] const DriftingClock& clock() const noexcept { return clock_; }
  [[nodiscard]] bool is_dead() const noexcept { return is_dead_; }
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Caller>>& callers() const noexcept {
    return callers_;
  }
  [[nodiscard]] const std::shared_ptr<locks::ProviderCore>& core() const noexcept { return core_; }
  // Returns whether all its callers are done.
  [[nodiscard]] bool is_idle() const;
  // Returns whether nothing of it is under way any more: it may be destroyed.
  [[nodiscard]] bool is_at_rest() const;
  [[nodiscard]] World& world() noexcept { return world_; }
  [[nodiscard]] Server& server() noexcept { return server_; }
  [[nodiscard]] AcquireRows& rows() noexcept { return rows_; }
  [[nodiscard]] Surroundings& surroundings() noexcept { return *this; }
  // Returns until when the good requests for a lease let its holder rely on it, by its clock.
  [[nodiscard]] base::TimePoint limit_of(const base::LeaseId& id) const;
  void forget_limit(const base::LeaseId& id) { limits_.erase(id); }
  // Returns when it was last resumed, by its clock: its events of the stop happen then.
  [[nodiscard]] base::TimePoint resumed_at() const noexcept { return resumed_at_; }
  // A lease was judged by its clock.
  void use_clock();
  // Checks what holds at any time, after an event.
  void check();

 private:
  class Store;
  class Runtime;
  class BackgroundEvents;

  void ask(const Step& step, Reply reply) override;
  [[nodiscard]] base::TimePoint true_time(base::TimePoint when) const override {
    return clock_.true_time(when);
  }
  Actor& actor() noexcept override { return *this; }
  Timeline& timeline() noexcept override { return world_.timeline; }

  void ask_watch(Reply reply);
  [[nodiscard]] Request request_of(const Step& step, bool& is_new);
  void see_to_queue(const Request& request, bool is_new, Answer& answer);
  void note_good(const Request& request, base::TimePoint sent, const Answer& answer);
  void rely(const base::LeaseId& id, base::TimePoint sent, base::Duration ttl);
  void plant(const Request& request, Answer& answer) const;
  void on_notice(int name, const store::Notice& notice);
  void subscribe();

  World& world_;
  Server& server_;
  const int number_;
  AcquireRows& rows_;
  const FaultId drifts_;
  DriftingClock clock_;
  Link link_;
  store::WatchList watches_;
  bool is_listening_ = false;
  bool wants_subscription_ = false;
  bool is_subscribing_ = false;
  base::Duration backoff_{};
  int watched_ = 0;                                 // the name of the watch under way
  std::set<std::pair<int, base::LeaseId>> queued_;  // claims that may be in the server's queue
  std::set<base::LeaseId> unanswered_;              // claims of which a release was not answered
  std::set<base::LeaseId> told_;                    // claims that a message calls granted
  std::map<base::LeaseId, base::TimePoint> limits_;
  base::Duration stopped_before_{};
  base::TimePoint resumed_at_{};
  bool is_dead_ = false;
  bool has_ended_ = false;
  std::vector<BackgroundEvents*> backgrounds_;
  std::unique_ptr<Runtime> runtime_;
  std::shared_ptr<locks::ProviderCore> core_;
  std::vector<std::unique_ptr<Caller>> callers_;
};

}  // namespace holdfast::simulation
