#include <charconv>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/recipes/semaphore.h>
#include <holdfast/store/lease_store.h>

#include "apps/holdfast/cli/claim_options.h"

namespace holdfast::cli {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using store::LeaseStore;
using store::Permits;

bool read_number(std::string_view text, std::uint32_t& number) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [after, error] = std::from_chars(begin, end, number);
  return error == std::errc() && after == end;
}

}  // namespace

void WaitOptions::declare(CommandLine& line) {
  line.flag("-n,--no-wait", not_at_all, "Do not wait: exit with 75 if the name is busy");
  line.option("-w,--wait", "DURATION", "Longest wait, such as 90s (default: no limit)",
              into(at_most));
  line.flag("-q,--quiet", quiet, "Do not tell whom it waits for, so that cron sends no mail");
}

Result<void> WaitOptions::check() const {
  if (not_at_all && at_most) {
    return fail(ErrorCode::invalid_argument, "-n and -w exclude each other: use one of them");
  }
  return {};
}

base::Duration WaitOptions::wait() const {
  return not_at_all ? base::Duration::zero() : at_most.value_or(base::Duration::max());
}

std::string owner_of_process(pid_t id) {
  std::string owner = locks::default_owner();
  owner.resize(owner.rfind(':') + 1);
  return owner + std::to_string(id);
}

Result<Permits> parse_permits(std::string_view text) {
  const std::size_t slash = text.find('/');
  Permits permits;
  if (slash == std::string_view::npos || !read_number(text.substr(0, slash), permits.count) ||
      !read_number(text.substr(slash + 1), permits.capacity) || !permits.valid() ||
      permits.capacity == Permits::kAll) {
    return fail(
        ErrorCode::invalid_argument,
        "'" + base::printable(text) + "' is not K/N, as in 1/5: K of N permits, K from 1 to N");
  }
  return permits;
}

void ClaimOptions::declare(CommandLine& line) {
  waiting.declare(line);
  line.flag("-s,--shared", shared, "Hold the name together with other -s holders");
  line.option("--permits", "K/N", "Hold K of N permits; all users of the name need the same N",
              [this](std::string_view text) -> Result<void> {
                HOLDFAST_TRY_LET(auto parsed, parse_permits(text));
                permits = parsed;
                return {};
              });
  line.option("--ttl", "DURATION", "How long the lease lasts without renewal (default: 30s)",
              into(ttl));
  line.option("--reason", "TEXT", "Reason, shown by 'ls' and 'show'", into(reason));
  line.option("--owner", "TEXT", "Human-readable owner label (default: user@host:pid)",
              into(owner));
}

Result<locks::AcquireOptions> ClaimOptions::options() const {
  HOLDFAST_TRY(waiting.check());
  if (shared && permits) {
    return fail(ErrorCode::invalid_argument,
                "-s and --permits exclude each other: use one of them");
  }
  if (ttl < LeaseStore::kMinTtl || ttl > LeaseStore::kMaxTtl) {
    return fail(ErrorCode::invalid_argument, "--ttl must be from 100ms to 365d");
  }
  return locks::AcquireOptions{
      .ttl = ttl,
      .wait = waiting.wait(),
      .owner = owner,
      .reason = reason,
      .permits = shared ? Permits::reader() : permits.value_or(Permits::mutex()),
      .holds_back = permits ? recipes::Semaphore::kHoldsBack : base::Duration::zero()};
}

}  // namespace holdfast::cli
