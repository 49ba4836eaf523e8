#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>
#include <holdfast/store/outcome.h>

// For authors of another face of the locks: `acquire`, `release` and the recipes, step by step,
// without a thread and without a call of the store. The blocking face and the coroutine face drive
// the same procedures; run_blocking.h shows how short a driver is.
namespace holdfast::locks::steps {

// The next request of a procedure to its driver; Procedure::on takes the answer. Everything that a
// step refers to lives until then.
struct Step {
  enum class Kind : std::uint8_t {
    claim,     // LeaseStore::claim(name, *claim, deadline)
    transfer,  // LeaseStore::transfer(name, id, *claim, deadline)
    release,   // LeaseStore::release(name, id, deadline)
    renew,     // LeaseStore::renew(renewals, deadline)
    hit,       // LeaseStore::hit(name, *hit, deadline)
    look,      // LeaseStore::look(name, deadline)
    watch,     // Procedure::watch(), which asks the store: no answer
    wait,      // until its Waker is called, or until `until` by the provider's clock: Woken
    done,
  };

  Kind kind = Kind::done;
  std::string_view name{};
  base::LeaseId id{};
  const store::Claim* claim = nullptr;
  const store::Hit* hit = nullptr;
  std::span<const store::Renewal> renewals{};
  base::Deadline deadline = base::Deadline::never();
  base::TimePoint until{};
  base::Duration slack{};   // of a wait: how late it may end if the machine was suspended
  bool gives_back = false;  // of a watch: it asks the store to remove something

  [[nodiscard]] static Step wait_until(base::TimePoint when, base::Duration slack = {}) noexcept {
    return {.kind = Kind::wait, .until = when, .slack = slack};
  }
};

struct Woken {
  bool by_waker = false;  // else the time has come
};

// The answer to a step.
using Answer =
    std::variant<std::monostate, Woken, base::Result<store::ClaimOutcome>,
                 base::Result<store::TransferOutcome>, base::Result<store::ReleaseOutcome>,
                 base::Result<store::HitOutcome>, base::Result<std::optional<store::NameState>>,
                 base::Result<std::vector<store::RenewOutcome>>>;

// A task of several steps: it returns the next step and takes the answer, until it is done. One
// thread at a time; no I/O, and nothing blocks but `watch`.
//
// A driver must drive it to its end. Otherwise it may leave a lease in the store, and a waiter to
// which it has offered the name.
class Procedure {
 public:
  Procedure(const Procedure&) = delete;
  Procedure& operator=(const Procedure&) = delete;
  virtual ~Procedure() = default;

  [[nodiscard]] virtual Step start() = 0;
  [[nodiscard]] virtual Step on(Answer&& answer) = 0;
  // Takes the place of the answer if the store threw an exception. Returns the next step.
  [[nodiscard]] virtual Step on_exception() { return {}; }
  // Asks the store for notices. After a failure none arrive, and waiters poll.
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
