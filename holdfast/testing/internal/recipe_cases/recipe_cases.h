#pragma once

#include <memory>
#include <span>

#include <holdfast/recipes/marker.h>
#include <holdfast/testing/internal/lock_run.h>

namespace holdfast::testing::internal {

// Returns a marker on the network of the run.
[[nodiscard]] inline std::unique_ptr<MarkerFace> marker_on(LockRun& run,
                                                           const recipes::MarkerOptions& options = {
                                                               .timeout = kPatience}) {
  return run.recipes().marker(options);
}

// Each has one theme, in the file of that name.
std::span<const LockCase> mark_cases();
std::span<const LockCase> mark_guard_cases();
std::span<const LockCase> mark_fault_cases();
std::span<const LockCase> outage_cases();
std::span<const LockCase> recovery_cases();
std::span<const LockCase> breaker_cases();
std::span<const LockCase> reader_writer_cases();
std::span<const LockCase> semaphore_cases();
std::span<const LockCase> multi_lock_cases();
std::span<const LockCase> throttle_cases();
std::span<const LockCase> leader_election_cases();
std::span<const LockCase> once_cases();

}  // namespace holdfast::testing::internal
