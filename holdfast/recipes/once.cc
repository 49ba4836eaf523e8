#include <holdfast/recipes/once.h>

#include <algorithm>
#include <exception>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/saturate.h>
#include <holdfast/recipes/internal/ask_again.h>

namespace holdfast::recipes {

namespace {

using base::Duration;
using base::ErrorCode;
using base::fail;
using base::Result;
using locks::AcquireOptions;
using locks::Lock;

constexpr Duration kTimeout = std::chrono::seconds(5);

// Runs at the end of a scope, however it is left.
template <class Work>
class AtEnd {
 public:
  explicit AtEnd(Work work) : work_(std::move(work)) {}
  ~AtEnd() { work_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  const Work work_;
};

}  // namespace

Once::Once(locks::LockProvider& provider, OnceOptions options)
    : provider_(provider), options_(std::move(options)) {}

Result<OnceOutcome> Once::run(std::string_view key,
                              const std::function<void(const Lock& lock)>& work) {
  if (key.empty()) {
    return fail(ErrorCode::invalid_argument, "the key of what is to run once is empty");
  }
  const Duration period = options_.period.unchecked();
  const base::Ttl ttl = options_.retry_after_crash.value_or(options_.period);
  // A lease of a whole period is renewed late: what is renewed also blocks the next period for
  // longer, should this process die.
  const AcquireOptions how{
      .ttl = ttl,
      .renew_every = options_.retry_after_crash ? std::nullopt : std::optional(period * 2 / 3),
      .owner = options_.owner,
      .reason = "once in a while"};
  const base::TimePoint started = provider_.clock().now();
  auto acquired = provider_.try_acquire(options_.prefix + std::string(key), how);
  if (!acquired) {
    return std::unexpected(std::move(acquired).error());
  }
  if (!*acquired) {
    return OnceOutcome::skipped;
  }
  Lock lock = **std::move(acquired);
  const AtEnd keep([&] {
    try {
      keep_until_the_period_ends(std::move(lock), started);
    } catch (const std::exception& error) {
      options_.logger.warn(error.what());  // the lease of the run is left, and runs out
    }
  });
  work(lock);
  return OnceOutcome::ran;
}

void Once::keep_until_the_period_ends(Lock lock, base::TimePoint started) {
  const Duration left =
      base::add_saturating(started, options_.period.unchecked()) - provider_.clock().now();
  if (!lock.check() || left <= Duration::zero()) {
    return;  // released with the handle
  }
  // A new lease in place of the old one: a renewal could not make it end earlier.
  const std::string name = lock.name();
  const std::string owner = lock.owner();
  const store::Claim rest{.id = base::LeaseId::generate(),
                          .owner = owner,
                          .reason = "has run in this period",
                          .ttl = std::max(left, store::LeaseStore::kMinTtl)};
  const base::LeaseId id = lock.detach();
  const auto deadline = base::Deadline::after(base::steady_clock(), kTimeout);
  const auto kept = internal::ask_again(
      deadline, [&] { return provider_.store().transfer(name, id, rest, deadline); });
  if (!kept) {
    options_.logger.warn(
        "the period of " + base::printable(name) +
        " may end at another time, with the lease of its run: " + base::to_string(kept.error()));
  }
}

}  // namespace holdfast::recipes
