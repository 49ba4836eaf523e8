#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <tests/simulation/server.h>
#include <tests/simulation/world.h>

#include <holdfast/base/clock.h>
#include <holdfast/store/notice.h>

namespace holdfast::simulation {

// Called once, with the answer, or without one if the store threw an exception.
using Reply = std::move_only_function<void(std::optional<Answer> answer)>;

// The connections between one process and the server. Messages take time; faults lose, delay and
// repeat them. Those of one connection stay in order, those of two need not: after a lost reply the
// process makes a new connection, and what is still under way on the old one may arrive later.
class Link {
 public:
  using OnNotice = std::function<void(int name, const store::Notice& notice)>;
  // The end of requests while the server is out of reach.
  enum class Cut : std::uint8_t { no, silent, refused };

  Link(World& world, Server& server, Actor& process, int number, OnNotice on_notice)
      : world_(world),
        server_(server),
        process_(process),
        number_(number),
        on_notice_(std::move(on_notice)) {}

  // Sends a request; `deadline` is a true time. Everything else is up to the faults.
  void send(Request request, base::TimePoint deadline, Reply reply);
  // The server sends a notice to this process.
  void publish(int name, const store::Notice& notice);

  void cut(Cut how, Fault fault = Fault::partition, FaultId id = 0) noexcept;
  [[nodiscard]] Cut cut() const noexcept { return cut_; }
  // Ends all requests under way, as those that follow: the history is over.
  void abandon();
  // Returns when the server has last handled a request of this process.
  [[nodiscard]] base::TimePoint last_handled() const noexcept { return last_handled_; }
  [[nodiscard]] bool has_calls() const noexcept;
  // Returns whether a claim of this id came to the server when nobody waited for its answer any
  // more: what it left there runs out.
  [[nodiscard]] bool came_late(const base::LeaseId& id) const { return late_.contains(id); }

 private:
  struct Call {
    Reply reply;
    Step::Kind kind;
    std::size_t renewals;
    std::vector<std::pair<Fault, FaultId>> faults{};  // that may have kept its answer back
  };
  using CallPtr = std::shared_ptr<Call>;

  [[nodiscard]] std::uint64_t next_subject() noexcept {
    return (static_cast<std::uint64_t>(number_) << 32U) | ++sent_;
  }
  [[nodiscard]] base::Duration latency(std::uint64_t subject) const noexcept;
  // Returns a delay, and notes it, if there is one.
  base::Duration delay(Fault fault, std::uint64_t subject, Call* call);
  void arrive(const CallPtr& call, Request& request, std::uint64_t subject);
  enum class Caller : std::uint8_t { waits, is_gone };
  Answer handle(Request& request, std::uint64_t subject, Caller caller);
  void reply_to(const CallPtr& call, std::uint64_t subject, Answer answer);
  void finish(const CallPtr& call, std::optional<Answer> answer);
  // Fails the call half a round trip from now, and by the deadline.
  void fail_soon(const CallPtr& call, base::ErrorCode code, const char* why,
                 base::TimePoint deadline = base::TimePoint::max());
  void lose_connection() noexcept;
  [[nodiscard]] bool loses(const CallPtr& call);

  World& world_;
  Server& server_;
  Actor& process_;
  const int number_;
  const OnNotice on_notice_;

  Cut cut_ = Cut::no;
  Fault cut_by_ = Fault::partition;
  FaultId cut_id_ = 0;
  bool is_abandoned_ = false;
  std::uint64_t sent_ = 0;
  base::TimePoint request_arrives_{};  // the last one of this connection
  base::TimePoint reply_arrives_{};
  base::TimePoint notice_arrives_{};
  base::TimePoint last_handled_{};
  std::vector<CallPtr> calls_;  // under way
  std::set<base::LeaseId> late_;
};

}  // namespace holdfast::simulation
