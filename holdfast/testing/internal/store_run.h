#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/store/lease_store.h>
#include <holdfast/testing/engine_under_test.h>
#include <holdfast/testing/internal/results.h>

namespace holdfast::testing::internal {

// For leases that must last longer than the case.
inline constexpr base::Duration kLong = std::chrono::minutes(10);

// Returns a claim with a new id.
[[nodiscard]] store::Claim wish(base::Ttl ttl = kLong, store::Permits permits = {});

// Return the outcome that a case continues with; anything else ends the case with an exception,
// which GoogleTest reports as its failure. For the case's own thread.
[[nodiscard]] store::Grant granted(const base::Result<store::ClaimOutcome>& outcome);
[[nodiscard]] store::Busy busy(const base::Result<store::ClaimOutcome>& outcome);
[[nodiscard]] store::Grant handed_over(const base::Result<store::TransferOutcome>& outcome);
[[nodiscard]] bool is_lost(const base::Result<store::TransferOutcome>& outcome);
[[nodiscard]] bool is_granted(const base::Result<store::ClaimOutcome>& outcome);

// One case's place, and a handle on it.
class StoreRun {
 public:
  explicit StoreRun(const EngineUnderTest& engine);

  [[nodiscard]] const EngineUnderTest& engine() const { return engine_; }
  [[nodiscard]] const Place& place() const { return place_; }
  [[nodiscard]] store::LeaseStore& store() { return *store_; }
  [[nodiscard]] std::shared_ptr<store::LeaseStore> open() const { return place_.open(); }
  // Drops this run's handle, restarts the server if there is one, and opens another.
  void restart();

  [[nodiscard]] bool clock_moves() const { return place_.advance != nullptr; }
  // Returns a ttl whose end the case waits for: long enough that nothing in between takes longer.
  [[nodiscard]] base::Duration ttl() const;
  // Lets at least this long pass by the store's clock: by moving it, or by waiting for a lease to
  // end.
  void pass(base::Duration time);

  // Single renewal, single release, and the holders of a name (none if it is free).
  [[nodiscard]] store::RenewOutcome renew(std::string_view name, const base::LeaseId& id,
                                          base::Duration ttl);
  store::ReleaseOutcome release(std::string_view name, const base::LeaseId& id);
  [[nodiscard]] std::vector<store::Holder> holders(std::string_view name);

 private:
  const EngineUnderTest engine_;
  const Place place_;
  std::shared_ptr<store::LeaseStore> store_;
};

struct StoreCase {
  const char* name;
  void (*run)(StoreRun& run);
};

// Each has one theme, in the file of that name.
std::span<const StoreCase> claim_cases();
std::span<const StoreCase> token_cases();
std::span<const StoreCase> renewal_cases();
std::span<const StoreCase> transfer_cases();
std::span<const StoreCase> release_cases();
std::span<const StoreCase> look_cases();
std::span<const StoreCase> list_cases();
std::span<const StoreCase> permit_cases();
std::span<const StoreCase> hit_cases();
std::span<const StoreCase> holding_back_cases();
std::span<const StoreCase> watch_cases();
std::span<const StoreCase> name_cases();
std::span<const StoreCase> kind_cases();
std::span<const StoreCase> random_history_cases();

}  // namespace holdfast::testing::internal
