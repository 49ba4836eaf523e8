#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/internal/hold.h>
#include <holdfast/locks/internal/lease_keeper.h>
#include <holdfast/locks/internal/wait_lines.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::locks::internal {

// What a provider and its handles share. Thread-safe.
class ProviderCore : public std::enable_shared_from_this<ProviderCore> {
 public:
  ProviderCore(std::shared_ptr<store::LeaseStore> lease_store, ProviderOptions provider_options);

  // Null if the name was not to be had within the wait, which is `default_wait` where the options
  // do not say.
  base::Result<std::shared_ptr<Hold>> acquire(std::string_view name, const AcquireOptions& how,
                                              base::Duration default_wait);
  // Null if the grant came too late to be of use; it is released then.
  std::shared_ptr<Hold> keep(std::string_view name, const store::Claim& claim,
                             const AcquireOptions& how, const HandedOver& granted);

  // To the next in line, or to the store.
  base::Result<store::ReleaseOutcome> release(Hold& hold);
  // All but so many permits, to the store.
  base::Result<void> reduce(Hold& hold, std::uint32_t permits);
  // The lease stays, unkept.
  void abandon(Hold& hold);
  // Waiting calls end, renewal ends.
  void shut_down();

  void count(std::string_view counter) const {
    if (options.metrics.count) {
      options.metrics.count(counter, 1);
    }
  }
  void observe(std::string_view duration, base::Duration value) const {
    if (options.metrics.observe) {
      options.metrics.observe(duration, value);
    }
  }

  const std::shared_ptr<store::LeaseStore> store;
  const ProviderOptions options;
  const bool push;
  WaitLines lines;
  LeaseKeeper keeper;

 private:
  base::Result<store::TransferOutcome> transfer(Hold& hold, Waiter& next, base::Deadline deadline);
  bool hand_over(Hold& hold, Waiter& next, base::Deadline deadline,
                 base::Result<store::ReleaseOutcome>& outcome);
};

}  // namespace holdfast::locks::internal
