#pragma once

#include <memory>
#include <span>

#include <holdfast/recipes/marker.h>
#include <holdfast/testing/internal/provider_run.h>

namespace holdfast::testing::internal {

// Returns `run.network()` as a shared pointer; do not keep it beyond the run.
[[nodiscard]] inline std::shared_ptr<store::LeaseStore> network_of(ProviderRun& run) {
  return {std::shared_ptr<void>(), &run.network()};
}

// Returns a marker on the network of the run.
[[nodiscard]] inline recipes::Marker marker_on(ProviderRun& run, recipes::MarkerOptions options = {
                                                                     .timeout = kPatience}) {
  return recipes::Marker(network_of(run), std::move(options));
}

// Each has one theme, in the file of that name.
std::span<const ProviderCase> mark_cases();
std::span<const ProviderCase> mark_guard_cases();
std::span<const ProviderCase> mark_fault_cases();
std::span<const ProviderCase> outage_cases();
std::span<const ProviderCase> recovery_cases();
std::span<const ProviderCase> breaker_cases();
std::span<const ProviderCase> reader_writer_cases();
std::span<const ProviderCase> semaphore_cases();
std::span<const ProviderCase> multi_lock_cases();
std::span<const ProviderCase> throttle_cases();
std::span<const ProviderCase> leader_election_cases();
std::span<const ProviderCase> once_cases();

}  // namespace holdfast::testing::internal
