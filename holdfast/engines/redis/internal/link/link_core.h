#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/base/process_mark.h>
#include <holdfast/engines/redis/internal/link.h>
#include <holdfast/engines/redis/internal/link/backoff.h>
#include <holdfast/engines/redis/internal/link/connection.h>
#include <holdfast/engines/redis/internal/link/pending.h>
#include <holdfast/engines/redis/internal/link/poll_waker.h>
#include <holdfast/engines/redis/internal/link/spin_budget.h>
#include <holdfast/engines/redis/internal/link/submission.h>

namespace holdfast::engines::redis::internal {

// The inside of a Link: who leads, who waits, what is under way.
//
//   a call comes        it stands in line; the first leads, the others park
//   the leader works    it writes what is in line and reads; if it sleeps in poll() while a call
//                       comes, that caller writes itself and then parks
//   a reply comes       the leader hands it over and wakes its caller
//   the leader is done  the call that will have to wait longest leads
//   a deadline comes    a call in line goes, one under way leaves its place behind; if nothing was
//                       heard since it was sent, the connection may end with it (OnSilence)
//   the connection ends what is under way is unknown; what is in line goes to the next connection
//   the server is unfit nothing more is sent; when all that is under way has come, the connection
//                       ends
class LinkCore {
 public:
  explicit LinkCore(RedisOptions options);
  ~LinkCore() { close(); }
  LinkCore(const LinkCore&) = delete;
  LinkCore& operator=(const LinkCore&) = delete;

  // Answers what was submitted, and refuses what is from now on.
  void close();
  // Does not block; the answer is called back when the mutex is free, by whoever leads then.
  void submit(std::unique_ptr<Submission> submission);
  // Serves the call; blocks. Afterwards it is finished, or has an error, or both.
  void run(Call& call);
  [[nodiscard]] const RedisOptions& options() const noexcept { return options_; }
  [[nodiscard]] bool is_inherited() const noexcept { return process_.is_inherited(); }
  [[nodiscard]] LinkCounters counters() const;
  // Before the first call: is called, with the mutex, when the server says that it takes no
  // commands now.
  void on_unfit(std::function<void()> callback) { on_unfit_ = std::move(callback); }

 private:
  using Guard = std::unique_lock<std::mutex>;
  using ConnectionPtr = std::shared_ptr<Connection>;

  // How the leader passes the time while nothing comes.
  enum class Rest : std::uint8_t { none, spinning, spent };

  // Out of memory ends the process in these and in write(): a leader or a writer that vanished
  // would leave the others waiting.
  [[nodiscard]] bool has_place_for(Call& call, Guard& guard) noexcept;
  // Serves all until `me` is served; driver_call_ until there are no submissions.
  void lead(Call& me, Guard& guard) noexcept;
  [[nodiscard]] bool has_to_lead(Call& me, Guard& guard);
  [[nodiscard]] bool is_served(const Call& me) const noexcept;
  // To another, if nobody leads.
  void hand_over(Guard& guard) noexcept;
  [[nodiscard]] Call* most_patient() const noexcept;
  // Before the reply has come.
  void give_up(Call& call);
  // That call was sent then, and has left: the connection may be dead.
  void suspect(const Call& call, base::TimePoint sent);
  void finish(Call& call);

  // The leader's work. read() and write() tell whether something has moved.
  bool read(Guard& guard);
  void deliver_all();
  void deliver_parts(Reply reply);
  void deliver(Reply reply);
  void rest(Call& me, Guard& guard);
  bool spin(const Call& me, Guard& guard);
  void sleep(base::Deadline deadline, Guard& guard);
  void reconnect(Call& me, Guard& guard);
  void connect(base::Deadline deadline, Guard& guard);
  void attempt_failed(const base::Error& error);
  void fail_in_line(Call& call, base::Error error);
  void drop_connection(const base::Error& error);
  void drop_if_useless(const Connection& connection);
  [[nodiscard]] base::TimePoint overdue_at() const noexcept;
  void wake_all(Guard& guard) noexcept;

  // For commands for which no caller waits: see link_submitting.cc.
  void refuse(std::unique_ptr<Submission> submission, base::Error error, Guard& guard);
  void drive() noexcept;
  // Never if there are none.
  [[nodiscard]] base::Deadline next_deadline() const noexcept;
  void expire(Guard& guard);
  void take_out(Submission& submission);
  static void call_back(const std::vector<Submission*>& answered);

  [[nodiscard]] base::Error too_many() const;
  [[nodiscard]] base::Error too_early(base::TimePoint time) const;

  // Also by others, while the leader sleeps: see link_writing.cc.
  bool write(Guard& guard) noexcept;
  void fill(Connection& connection);
  void join(Call& call, Connection& connection, base::TimePoint sent);
  void send_joined(std::vector<Call*>& calls, Connection& connection, base::TimePoint sent);

  // Whether so many stand in line that they are worth a write even if the leader is awake and will
  // come to it: half of all, so that the server works on them while the others are being woken.
  [[nodiscard]] bool has_enough_in_line() const noexcept {
    return line_.size() >= std::clamp(pending_.commands / 2, kLeastInLine, kMostInLine);
  }
  static constexpr std::size_t kLeastInLine = 4;
  static constexpr std::size_t kMostInLine = 32;

  // Constant after construction.
  const RedisOptions options_;
  const base::ProcessMark process_;
  PollWaker waker_;  // rouses the leader from its sleep
  std::function<void()> on_unfit_ = [] {};

  ParkingLot lot_;  // what it says is protected by mutex_

  mutable std::mutex mutex_;
  // Protected by mutex_.
  Line line_;
  Flight flight_;
  Load pending_;  // in line and under way
  Call* leader_ = nullptr;
  bool leader_sleeps_ = false;
  ConnectionPtr connection_;
  Backoff backoff_;
  base::TimePoint next_attempt_{};
  std::string last_failure_;
  LinkCounters counters_;
  std::multimap<base::TimePoint, Submission*> submissions_;  // by their deadlines
  std::vector<Submission*> answered_;                        // to be called back
  bool closing_ = false;

  // The writer's, under mutex_.
  std::vector<std::vector<Call*>> joined_;  // what may be joined, of each script

  // The leader's.
  SpinBudget spin_;
  Rest rest_ = Rest::none;
  base::TimePoint spin_until_{};
  int yields_ = 0;
  std::vector<Reply> arrived_;
  ParkingLot::Sleepers sleepers_;  // to be woken when the mutex is free

  // The thread that leads for submissions, and what stands for it where a caller leads.
  std::condition_variable driver_wake_;
  Call driver_call_{.commands = {}, .replies = nullptr, .deadline = base::Deadline::never()};
  std::thread driver_;  // started under mutex_
};

}  // namespace holdfast::engines::redis::internal
