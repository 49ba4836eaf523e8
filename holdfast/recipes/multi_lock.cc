#include <holdfast/recipes/multi_lock.h>

#include <algorithm>
#include <utility>

#include <holdfast/locks/or_timed_out.h>

namespace holdfast::recipes {

namespace {

using base::Result;
using locks::AcquireOptions;
using locks::LockProvider;

using AcquireLocks = AcquireAll<MultiLock, locks::Lock>;

}  // namespace

Result<std::vector<std::string>> in_lock_order(std::vector<std::string> names) {
  if (names.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, "no name to acquire: give one at least");
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

Result<store::ReleaseOutcome> MultiLock::release() {
  auto outcome = none_released();
  for (auto lock = locks_.rbegin(); lock != locks_.rend(); ++lock) {
    outcome = one_more(std::move(outcome), lock->release());
  }
  return outcome;
}

MultiLock acquire_all(LockProvider& provider, std::vector<std::string> names,
                      const AcquireOptions& options) {
  AcquireLocks all(provider.clock(), std::move(names), options, base::Duration::max());
  while (const std::string* const name = all.next()) {
    all.on(locks::acquire_or_error(provider, *name, all.how()));
  }
  return *base::value_or_throw(all.outcome());
}

Result<std::optional<MultiLock>> try_acquire_all(LockProvider& provider,
                                                 std::vector<std::string> names,
                                                 const AcquireOptions& options) {
  AcquireLocks all(provider.clock(), std::move(names), options, base::Duration::zero());
  while (const std::string* const name = all.next()) {
    all.on(provider.try_acquire(*name, all.how()));
  }
  return all.outcome();
}

}  // namespace holdfast::recipes
