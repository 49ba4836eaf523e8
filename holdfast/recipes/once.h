#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/base/log.h>
#include <holdfast/base/ttl.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::recipes {

struct OnceOptions {
  // The least time from the start of one run to the start of the next. 100 ms to 365 days.
  base::Ttl period = std::chrono::minutes(1);
  // The time after a crash of the running process when another may run the work in the same period;
  // at most the period, otherwise invalid_argument. nullopt: not in the same period; if the process
  // died after more than half a period, the next period may be skipped, too.
  std::optional<base::Ttl> retry_after_crash{};
  // Begins the name of every key in the store, so that these and locks have different names.
  std::string prefix = "once/";
  // Human-readable owner label; empty: the provider's.
  std::string owner{};
  base::Logger logger{};
};

// `skipped`: the work is running elsewhere, or has run in this period. `not_done`: it started
// here but could not be done; the next caller may run it.
enum class OnceOutcome : std::uint8_t { ran, skipped, not_done };

// Work that runs at most once in a period among all users of the store, such as the jobs of many
// schedulers whose clocks do not agree to the second.
//
// Thread-safe. Its provider must outlive it. The first caller runs the work, in the calling thread;
// all others are skipped until it has ended and the period, counted from its start by the store's
// clock, is over. No caller waits. A lease that is renewed during the run excludes other callers;
// the `lost` token of the work's lock fires if another caller may run the work, too.
//
// Work that fails counts as run: an exception is passed on, and the next run is in the next period.
// Not promised: that the work runs in every period, nor that it runs to its end: the process may
// die in the middle. Errors are those of LockProvider::try_acquire.
//
//   Once nightly(provider, {.period = 20h});
//   nightly.run("report", [](const locks::Lock&) { make_report(); });
class Once {
 public:
  explicit Once(locks::LockProvider& provider, OnceOptions options = {});

  base::Result<OnceOutcome> run(std::string_view key,
                                const std::function<void(const locks::Lock& lock)>& work);
  // For work that may find that it cannot be done: if it returns false, it does not count as run,
  // and the period is not used up (`not_done`).
  base::Result<OnceOutcome> attempt(std::string_view key,
                                    const std::function<bool(const locks::Lock& lock)>& work);

  // For authors of another face (see async::AsyncOnce): an attempt acquires the lock of a Run, does
  // its work and calls `end_run`.
  struct Run {
    std::string name;
    locks::AcquireOptions how;
    base::TimePoint started;
  };
  // Returns an error for a key or for options that are invalid.
  [[nodiscard]] base::Result<Run> new_run(std::string_view key) const;
  // Keeps the name locked until the period is over. If the store is unavailable, asks again for as
  // long as the lease of the run lasts, or five seconds.
  void end_run(locks::Lock& lock, base::TimePoint started) noexcept;

 private:
  void keep_until_the_period_ends(locks::Lock& lock, base::TimePoint started);
  // Replaces the lease of the run with the lease of the rest of the period.
  [[nodiscard]] base::Result<store::TransferOutcome> hand_over(const locks::Lock& lock,
                                                               const store::Claim& rest);
  // Claims the rest of the period after a hand-over that came too late, if no other run has
  // started.
  void claim_anew(const std::string& name, const store::Claim& rest);

  locks::LockProvider& provider_;
  // The provider's, for a run that ends after it.
  const std::shared_ptr<store::LeaseStore> store_;
  const base::Clock& clock_;
  const OnceOptions options_;
};

}  // namespace holdfast::recipes
