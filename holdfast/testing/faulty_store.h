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
#include <holdfast/store/forwarding_store.h>

namespace holdfast::testing {

using store::Operation;

// A gate at which one call of a FaultyStore waits until the test opens it. Thread-safe.
class Gate {
 public:
  // Blocks until the call has reached the gate.
  void wait_until_reached();
  [[nodiscard]] bool reached() const;
  // Lets the call continue, now or when it arrives.
  void open();
  // Ends the call with unknown_outcome, as if its deadline had passed.
  void lose();

 private:
  friend class FaultyStore;

  // Returns false if the call was lost, or if the deadline passed before the gate opened.
  bool pass(base::Deadline deadline);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;  // protected by mutex_
  bool open_ = false;     // protected by mutex_
  bool lost_ = false;     // protected by mutex_
};

// A store behind a bad network, for tests: it forwards every call to a real store and applies the
// scripted faults. Without a script it changes nothing.
//
// Thread-safe. Keeps the real store alive. Deterministic: the next calls of an operation get the
// faults that were scripted for it, in that order, and a held call waits until its gate is opened
// or its deadline has passed (unknown_outcome).
//
//   FaultyStore store(real);
//   store.lose_reply(Operation::claim);          // the lease is granted, but the reply is lost
//   const auto gate = store.hold_request(Operation::renew);
//   gate->wait_until_reached();  …  gate->open();
class FaultyStore final : public store::ForwardingStore {
 public:
  explicit FaultyStore(std::shared_ptr<store::LeaseStore> real);
  ~FaultyStore() override;

  // Makes the next `times` calls fail with unavailable, without effect.
  void refuse(Operation operation, int times = 1);
  // Makes them end with unknown_outcome, without effect.
  void lose_request(Operation operation, int times = 1);
  // Makes them end with unknown_outcome after they took effect.
  void lose_reply(Operation operation, int times = 1);
  // Executes them twice in a row; the result is that of the second.
  void duplicate(Operation operation, int times = 1);
  // Adds no fault: lets calls through before the next scripted one.
  void pass(Operation operation, int times = 1);
  // Hold the next call before it is executed, or after that and before its reply.
  [[nodiscard]] std::shared_ptr<Gate> hold_request(Operation operation);
  [[nodiscard]] std::shared_ptr<Gate> hold_reply(Operation operation);

  // Makes everything unavailable, and drops the hints of `watch`, until `come_back`.
  void go_away();
  void come_back();
  // Drops the hints of `watch` from now on.
  void lose_hints();

  // Returns how many calls have been made, including those that got a fault.
  [[nodiscard]] std::size_t calls(Operation operation) const;
  [[nodiscard]] store::LeaseStore& real() const noexcept { return forwarded_to(); }
  [[nodiscard]] store::Capabilities capabilities() const override;
  // Returns an interface with the same script if the real store has one; a held call waits in a
  // thread.
  [[nodiscard]] store::AsyncLeaseStore* async() noexcept override;

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
  // Counts the call and removes its fault from the script.
  Fault next(Operation operation);
  // Runs `work`, which waits at a gate, in a thread that is joined when the store ends.
  void stand_at_gate(std::function<void()> work);
  base::Result<void> around(Operation operation, base::Deadline deadline,
                            const Forward& forward) override;
  base::Result<store::Watch> do_watch(const base::Name& name,
                                      store::WatchCallback callback) override;

  const std::shared_ptr<Hints> hints_;  // shared with watches, which may outlive the store

  mutable std::mutex mutex_;
  std::array<std::deque<Fault>, kOperations> script_;  // protected by mutex_
  std::array<std::size_t, kOperations> calls_{};       // protected by mutex_
  bool away_ = false;                                  // protected by mutex_
  std::vector<std::thread> at_gates_;                  // protected by mutex_
  std::unique_ptr<Async> async_;                       // null if the real store has none
};

}  // namespace holdfast::testing
