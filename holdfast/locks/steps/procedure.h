#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>
#include <holdfast/store/outcome.h>

// For those who write another face of the locks: what `acquire`, `release` and the recipes do, step
// by step, without a thread and without a call of the store. The blocking face and the coroutine
// face drive the same procedures; see run_blocking.h for how short a driver is.
namespace holdfast::locks::steps {

// What a procedure wants to be done next, and with what it wants to be told of it. What it refers
// to lives until then.
struct Step {
  enum class Kind : std::uint8_t {
    claim,     // LeaseStore::claim(name, *claim, deadline)
    transfer,  // LeaseStore::transfer(name, id, *claim, deadline)
    release,   // LeaseStore::release(name, id, deadline)
    hit,       // LeaseStore::hit(name, *hit, deadline)
    look,      // LeaseStore::look(name, deadline)
    watch,     // Procedure::watch(), which asks the store: nothing is told
    wait,      // until its Waker is called, or until `until` by the provider's clock: Woken
    done,
  };

  Kind kind = Kind::done;
  std::string_view name{};
  base::LeaseId id{};
  const store::Claim* claim = nullptr;
  const store::Hit* hit = nullptr;
  base::Deadline deadline = base::Deadline::never();
  base::TimePoint until{};
  base::Duration slack{};   // of a wait: how late it may end if the machine was suspended
  bool gives_back = false;  // of a watch: it asks the store to take something back

  [[nodiscard]] static Step wait_until(base::TimePoint when, base::Duration slack = {}) noexcept {
    return {.kind = Kind::wait, .until = when, .slack = slack};
  }
};

struct Woken {
  bool by_waker = false;  // else the time has come
};

// What came of a step.
using Answer =
    std::variant<std::monostate, Woken, base::Result<store::ClaimOutcome>,
                 base::Result<store::TransferOutcome>, base::Result<store::ReleaseOutcome>,
                 base::Result<store::HitOutcome>, base::Result<std::optional<store::NameState>>>;

// Something that takes several steps: it says what to do, and is told what came of it, until it is
// done. One thread at a time; no I/O, and nothing blocks but `watch`.
//
// It is driven to its end, or else may leave behind what it holds and whoever it has promised
// something to.
class Procedure {
 public:
  Procedure(const Procedure&) = delete;
  Procedure& operator=(const Procedure&) = delete;
  virtual ~Procedure() = default;

  [[nodiscard]] virtual Step start() = 0;
  [[nodiscard]] virtual Step on(Answer&& answer) = 0;
  // Takes the place of the answer if the store threw an exception: what remains to be done.
  [[nodiscard]] virtual Step on_exception() { return {}; }
  // Asks the store to be told of hints. A failure only means that nobody is told.
  virtual void watch() {}

  // Makes a procedure that waits end with ErrorCode::cancelled; the others end by their deadline.
  // Call it from any thread, and wake it afterwards.
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }

 protected:
  Procedure() = default;

  [[nodiscard]] bool is_cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> cancelled_ = false;
};

}  // namespace holdfast::locks::steps
