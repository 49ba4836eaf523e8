#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include <holdfast/store/async_lease_store.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::testing {

enum class Operation : std::uint8_t { claim, renew, transfer, release, look, list, hit, watch };

// A point at which one call of a FaultyStore stands until the test lets it go on. Thread-safe.
class Gate {
 public:
  // Blocks until the call has come to the gate.
  void wait_until_reached();
  [[nodiscard]] bool reached() const;
  // Lets it go on, now or when it comes.
  void open();
  // Lets it end in unknown_outcome, as if its deadline had come.
  void lose();

 private:
  friend class FaultyStore;

  // False if it was lost, or if the deadline came before it was opened.
  bool pass(base::Deadline deadline);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;  // protected by mutex_
  bool open_ = false;     // protected by mutex_
  bool lost_ = false;     // protected by mutex_
};

// A store behind a bad network, for tests: it hands every call on to a real store and does to it
// what the script says. Without a script it changes nothing.
//
// Thread-safe. Keeps the real store alive. Nothing is left to chance or to time: the next calls of
// an operation meet the faults that were scripted for it, in that order, and a held call stands
// until its gate is opened or its deadline has come (unknown_outcome).
//
//   FaultyStore store(real);
//   store.lose_reply(Operation::claim);          // the lease is granted, but nobody hears of it
//   const auto gate = store.hold_request(Operation::renew);
//   gate->wait_until_reached();  …  gate->open();
class FaultyStore final : public store::LeaseStore {
 public:
  explicit FaultyStore(std::shared_ptr<store::LeaseStore> real);
  ~FaultyStore() override;

  // The next `times` calls: unavailable, and nothing is done.
  void refuse(Operation operation, int times = 1);
  // unknown_outcome, and nothing is done.
  void lose_request(Operation operation, int times = 1);
  // unknown_outcome, but it is done.
  void lose_reply(Operation operation, int times = 1);
  // Done twice in a row; the answer is that to the second.
  void duplicate(Operation operation, int times = 1);
  // No fault: to let calls through before the next scripted one.
  void pass(Operation operation, int times = 1);
  // The next call stands before it is done, or after that and before its answer.
  [[nodiscard]] std::shared_ptr<Gate> hold_request(Operation operation);
  [[nodiscard]] std::shared_ptr<Gate> hold_reply(Operation operation);

  // From now on everything is unavailable, and no hint of `watch` comes through; until `come_back`.
  void go_away();
  void come_back();
  // From now on no hint of `watch` comes through.
  void lose_hints();

  // How many calls have come, those included that met a fault.
  [[nodiscard]] std::size_t calls(Operation operation) const;
  [[nodiscard]] store::LeaseStore& real() const noexcept { return *real_; }
  [[nodiscard]] store::Capabilities capabilities() const override;
  // With the same script, if the real store can be asked so; a held call stands in a thread.
  [[nodiscard]] store::AsyncLeaseStore* async() noexcept override;
  [[nodiscard]] store::Listener* listener() noexcept override { return real_->listener(); }

 private:
  class Async;
  enum class Kind : std::uint8_t {
    none,
    refuse,
    lose_request,
    lose_reply,
    duplicate,
    hold_request,
    hold_reply,
  };
  struct Fault {
    Kind kind = Kind::none;
    std::shared_ptr<Gate> gate{};
  };
  struct Hints;
  static constexpr std::size_t kOperations = 8;

  void script(Operation operation, Kind kind, int times);
  std::shared_ptr<Gate> script_gate(Operation operation, Kind kind);
  // Counts the call and takes its fault off the script.
  Fault next(Operation operation);
  // Runs at a gate, until the store ends.
  void stand_at_gate(std::function<void()> work);
  template <class Call>
  auto meet_fault(Operation operation, base::Deadline deadline, Call&& call) -> decltype(call());

  base::Result<store::ClaimOutcome> do_claim(const base::Name& name, const store::Claim& claim,
                                             base::Deadline deadline) override;
  base::Result<std::vector<store::RenewOutcome>> do_renew(std::span<const store::Renewal> renewals,
                                                          base::Deadline deadline) override;
  base::Result<store::TransferOutcome> do_transfer(const base::Name& name,
                                                   const base::LeaseId& from,
                                                   const store::Claim& to,
                                                   base::Deadline deadline) override;
  base::Result<store::ReleaseOutcome> do_release(const base::Name& name, const base::LeaseId& id,
                                                 base::Deadline deadline) override;
  base::Result<std::optional<store::NameState>> do_look(const base::Name& name,
                                                        base::Deadline deadline) override;
  base::Result<store::Page> do_list(std::string_view prefix, const store::PageRequest& page,
                                    base::Deadline deadline) override;
  base::Result<store::HitOutcome> do_hit(const base::Name& name, const store::Hit& hit,
                                         base::Deadline deadline) override;
  base::Result<store::Watch> do_watch(const base::Name& name,
                                      store::WatchCallback callback) override;

  const std::shared_ptr<store::LeaseStore> real_;
  const std::shared_ptr<Hints> hints_;  // shared with watches, which may outlive the store

  mutable std::mutex mutex_;
  std::array<std::deque<Fault>, kOperations> script_;  // protected by mutex_
  std::array<std::size_t, kOperations> calls_{};       // protected by mutex_
  bool away_ = false;                                  // protected by mutex_
  std::vector<std::thread> at_gates_;                  // protected by mutex_
  std::unique_ptr<Async> async_;                       // null if the real store has none
};

}  // namespace holdfast::testing
