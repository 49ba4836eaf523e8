#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/recipes/degradable_provider.h>
#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>

namespace holdfast::testing::internal {

// A degradable provider on the network of a run, with its log and counters.
class DegradationRun {
 public:
  static constexpr std::uint32_t kFailures = 3;

  DegradationRun(LockRun& run, recipes::WhenUnavailable policy);
  DegradationRun(LockRun& run, recipes::DegradationOptions options);

  [[nodiscard]] DegradableFace& provider() { return *provider_; }
  // Returns the lock; anything else ends the case with an exception.
  [[nodiscard]] std::unique_ptr<DegradableLockFace> must_acquire(const std::string& name);
  // Returns nullopt for an error and for contention.
  [[nodiscard]] std::optional<recipes::Protection> protection_of_try(const std::string& name);
  // Makes the network unavailable, and asks until the provider has noticed.
  void go_away_and_notice();
  // Lets enough time pass for the store to be asked again.
  void pass_the_pause();

  [[nodiscard]] int counted(const std::string& counter) const;
  [[nodiscard]] bool has_said(std::string_view part) const;

 private:
  [[nodiscard]] recipes::DegradationOptions listening(recipes::DegradationOptions options);

  LockRun& run_;
  mutable std::mutex mutex_;
  std::vector<std::string> said_;       // protected by mutex_
  std::map<std::string, int> counted_;  // protected by mutex_
  const recipes::DegradationOptions options_;
  const std::unique_ptr<DegradableFace> provider_;  // last: it reports to the others
};

// Returns options with a ttl and a wait that are longer than any case.
[[nodiscard]] locks::AcquireOptions patient_options();

}  // namespace holdfast::testing::internal
