#pragma once

#include <cstdint>
#include <functional>
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
  // From the start of one run to the next, at the least. 100 ms to 365 days.
  base::Ttl period = std::chrono::minutes(1);
  // How long after the death of the one who ran it another may run it in the same period; not more
  // than the period, or invalid_argument. Nothing: not in the same period; and the next one may be
  // skipped, too, if it died when it had run for more than half a period.
  std::optional<base::Ttl> retry_after_crash{};
  // Begins the name of every key in the store, so that these and locks do not meet.
  std::string prefix = "once/";
  // Who, for those who look into the store; empty: the provider's.
  std::string owner{};
  base::Logger logger{};
};

// `skipped`: it runs somewhere, or has run in this period. `given_back`: it began here but could
// not be done; the next who comes may run it.
enum class OnceOutcome : std::uint8_t { ran, skipped, given_back };

// Runs something at most once in a period over all who use the store, as the jobs of many
// schedulers need whose clocks do not agree to the second.
//
// Thread-safe. Outlived by its provider. Whoever comes first runs it, in the calling thread; nobody
// else does until it has ended and the period, counted from its start by the store's clock, is
// over. Nobody waits. It is kept for itself by a lease that is renewed while it runs; `lost` of the
// lock that the work is given fires if another may run it too.
//
// Work that fails counts as run: an exception is passed on, and the next run is in the next period.
// Not promised: that it runs at all in a period, nor exactly once: the one who ran it may have died
// in the middle. Errors are those of LockProvider::try_acquire.
//
//   Once nightly(provider, {.period = 20h});
//   nightly.run("report", [](const locks::Lock&) { make_report(); });
class Once {
 public:
  explicit Once(locks::LockProvider& provider, OnceOptions options = {});

  base::Result<OnceOutcome> run(std::string_view key,
                                const std::function<void(const locks::Lock& lock)>& work);
  // For work that finds out whether it can be done at all: where it returns false, it has not run,
  // and the period is not spent (`given_back`).
  base::Result<OnceOutcome> attempt(std::string_view key,
                                    const std::function<bool(const locks::Lock& lock)>& work);

 private:
  // The name stays taken until the period is over. Where the store is away, asks again for as long
  // as the lease of the run lasts, or five seconds.
  void keep_until_the_period_ends(locks::Lock& lock, base::TimePoint started);
  // The hand-over from the lease of the run to that of the rest.
  [[nodiscard]] base::Result<store::TransferOutcome> hand_over(const locks::Lock& lock,
                                                               const store::Claim& rest);
  // After a hand-over that came too late: takes the rest of the period if nobody has begun.
  void claim_anew(const std::string& name, const store::Claim& rest);

  locks::LockProvider& provider_;
  const OnceOptions options_;
};

}  // namespace holdfast::recipes
