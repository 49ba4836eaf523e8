#pragma once

#include <memory>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/locks/steps/waker.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::locks::internal {

// A procedure that runs beside the callers of a provider: in a thread of its own, or as events of a
// simulation. It ends some time after it was cancelled and woken. Thread-safe but for `join`.
class Background : public steps::Waker {
 public:
  // Joins.
  virtual ~Background() = default;

  // Starts the procedure, the first time. Returns false if there is no thread for it.
  [[nodiscard]] virtual bool start() = 0;
  // Blocks until a procedure that was started has ended. Afterwards it is not started again.
  virtual void join() noexcept = 0;
};

// The resources that a provider takes from its process: threads, random numbers, and the clock by
// which a store judges deadlines. Thread-safe. Outlives the provider and its locks.
class Runtime {
 public:
  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  // Returns the clock of the deadlines that are passed to a store.
  [[nodiscard]] virtual const base::Clock& request_clock() const noexcept = 0;
  [[nodiscard]] virtual base::LeaseId new_id() const = 0;
  // Returns a random number from 0 to 1, for jitter.
  [[nodiscard]] virtual double random_fraction() const = 0;
  // Returns a procedure that has not started. It asks `store` and waits by `clock`. All three
  // outlive it.
  [[nodiscard]] virtual std::unique_ptr<Background> background(steps::Procedure& procedure,
                                                               store::LeaseStore& store,
                                                               const base::Clock& clock) const = 0;
};

// Returns that of a program: base::steady_clock(), the kernel's random numbers, and a thread for
// each procedure. Never destroyed.
[[nodiscard]] const Runtime& process_runtime() noexcept;

}  // namespace holdfast::locks::internal
