#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/core.h>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/locks/waiters.h>
#include <holdfast/recipes/reader_writer_lock.h>

#include "apps/holdfast/cli/outer_leases.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/waiting/acquire_patiently.h"
#include "apps/holdfast/waiting/attend.h"
#include "apps/holdfast/waiting/until.h"
#include "apps/holdfast/waiting/wait_line.h"

namespace holdfast::cli {

namespace {

using base::ErrorCode;
using base::Result;
using locks::AcquireOptions;
using locks::Lock;
using locks::LockProvider;
using store::Permits;

using Attempt = Result<std::optional<Lock>>;

// The number of times that a claim may be refused for a reason that has passed a moment later.
constexpr int kFruitless = 10;

bool is_plain(std::uint32_t capacity) { return capacity == 1 || capacity == Permits::kAll; }

// A caller that wants the name alone claims it in the way in which it is held: beside sharing
// holders as a writer, which they do not pass.
void want_alone(AcquireOptions& options, std::uint32_t capacity) {
  options.permits = capacity == Permits::kAll ? Permits::writer() : Permits::mutex();
  options.holds_back = recipes::ReaderWriterLock::kHoldsBack;
}

// Waits until the state of the name fits, as `until` does, and after a second shows that it waits:
// for all that is held.
Result<bool> until_shown(LockProvider& provider, const std::string& name,
                         const StatePredicate& fits, const base::Deadline& deadline,
                         AcquireOptions options, std::uint32_t capacity) {
  options.permits = Permits::of(capacity, capacity);
  constexpr base::Duration kUnseen = std::chrono::seconds(1);
  const auto unseen = std::min(deadline, base::Deadline::after(base::boot_clock(), kUnseen));
  auto changed = until(provider.store(), name, fits, unseen, options.stop);
  if (!changed || *changed || unseen == deadline) {
    return changed;
  }
  const auto shown = locks::show_waiter(provider, name, options, kUnseen);
  return until(provider.store(), name, fits, deadline, options.stop);
}

// Acquires as try_acquire does; and where the name is held alone but wanted shared, waits until it
// is not, and claims it again; where it is shared but wanted alone, waits as a writer.
Attempt acquire_mixed(LockProvider& provider, const std::string& name, AcquireOptions options) {
  const auto fits = [&](const std::optional<store::NameState>& state) {
    return !state || state->capacity == options.permits.capacity;
  };
  const auto& clock = base::boot_clock();
  const auto deadline = base::Deadline::after(clock, *options.wait);
  for (int fruitless = 0;;) {
    Attempt attempt = provider.try_acquire(name, options);
    if (attempt || attempt.error().code != ErrorCode::conflict ||
        !is_plain(options.permits.capacity)) {
      return attempt;
    }
    const auto state = provider.store().look(name, answer_deadline());
    // A claim that fits now but was refused has just begun to fit, unless it never does.
    fruitless = state && fits(*state) ? fruitless + 1 : 0;
    if (!state || (*state && !is_plain((*state)->capacity)) || fruitless > kFruitless) {
      return attempt;
    }
    if (options.permits.count == options.permits.capacity) {
      want_alone(options, *state ? (*state)->capacity : 1);
      options.wait = deadline.remaining(clock.now());
      continue;
    }
    HOLDFAST_TRY_LET(const auto changed, until_shown(provider, name, fits, deadline, options,
                                                     *state ? (*state)->capacity : 1));
    if (!changed) {
      return std::nullopt;
    }
    options.wait = deadline.remaining(clock.now());
  }
}

// `waited` says how long and for whom, empty if there was no wait.
Result<Acquired> settle(Session& session, const std::string& name, Attempt attempt,
                        const std::string& waited) {
  if (!attempt) {
    return std::unexpected(std::move(attempt).error());
  }
  if (*attempt) {
    Lock& lock = **attempt;
    session.tell("acquired", name,
                 fmt::format("acquired {} with token {}{}", base::printable(name),
                             base::to_string(lock.token()), waited));
    return Acquired(std::move(lock));
  }
  const auto state = session.store()->look(name, answer_deadline());
  return Acquired(NotFree{state ? *state : std::nullopt});
}

// Returns the wait as it was given: 1500ms is not "1s".
std::string exactly(base::Duration wait) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(wait);
  const bool is_between = wait > std::chrono::seconds(1) && wait < std::chrono::minutes(1) &&
                          milliseconds % std::chrono::seconds(1) != std::chrono::milliseconds(0);
  return is_between ? std::to_string(milliseconds.count()) + "ms" : base::short_duration(wait);
}

}  // namespace

Result<Acquired> acquire_patiently(Session& session, Signals& signals, LockProvider& provider,
                                   const std::string& name, const AcquireOptions& options,
                                   const WaitStyle& style) {
  AcquireOptions once = options;
  once.wait = base::Duration::zero();
  Attempt attempt = acquire_mixed(provider, name, once);
  const bool has_to_wait = attempt && !*attempt && *options.wait > base::Duration::zero();
  if (!has_to_wait) {
    return settle(session, name, std::move(attempt), "");
  }
  HOLDFAST_TRY(check_not_own(session, name, options.permits));
  WaitLine line(session, wait_for_lock(session, name, *options.wait, style));
  const auto signal = attend(signals, line, [&](const std::stop_token& stop) {
    AcquireOptions waiting = options;
    waiting.stop = stop;
    waiting.holding = ids_of(outer_leases());
    attempt = acquire_mixed(provider, name, waiting);
  });
  if (signal) {
    return Acquired(Interrupted{*signal});
  }
  std::string waited = " after waiting " + rough(line.waited());
  if (!line.last_obstacle().empty()) {
    waited += ", last " + line.last_obstacle();
  }
  line.erase();
  return settle(session, name, std::move(attempt), waited);
}

Result<void> check_not_own(Session& session, const std::string& name,
                           const store::Permits& wanted) {
  const std::string leases = outer_leases();
  if (leases.empty()) {
    return {};
  }
  const auto state = session.store()->look(name, answer_deadline());
  if (!state || !*state || !waits_for_own(leases, **state, wanted)) {
    return {};
  }
  return base::fail(ErrorCode::invalid_argument,
                    fmt::format("{} is held by a command that this one runs under, so the wait "
                                "would never end: do not lock it twice, or unset HOLDFAST_LEASES "
                                "if that command does not wait for this one",
                                base::printable(name)));
}

base::Error not_free_error(const std::string& name, const NotFree& busy, base::Duration wait) {
  std::string message = base::printable(name) + " is held";
  if (busy.state && !busy.state->holders.empty()) {
    message += " by " + holder_text(busy.state->holders.front());
  }
  if (wait <= base::Duration::zero()) {
    return {ErrorCode::busy, message + ": retry with -w 30s, or without -n to wait without limit"};
  }
  return {ErrorCode::timed_out, message + ": not free within " + exactly(wait)};
}

}  // namespace holdfast::cli
