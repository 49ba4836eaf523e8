#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/process_mark.h>
#include <holdfast/locks/internal/background_releases.h>
#include <holdfast/locks/internal/hold.h>
#include <holdfast/locks/internal/lease_keeper.h>
#include <holdfast/locks/internal/runtime.h>
#include <holdfast/locks/internal/wait_queues.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::locks {

// The state that a provider and its handles share. Thread-safe.
//
// In a forked child it is never destroyed: its threads do not exist there, and a mutex may be
// locked for ever.
class ProviderCore : public std::enable_shared_from_this<ProviderCore> {
 public:
  [[nodiscard]] static std::shared_ptr<ProviderCore> make(
      std::shared_ptr<store::LeaseStore> lease_store, ProviderOptions provider_options,
      const internal::Runtime& runtime = internal::process_runtime());

  // Returns the deadline of a request that may take so long.
  [[nodiscard]] base::Deadline deadline_after(base::Duration patience) const noexcept {
    return base::Deadline::after(runtime.request_clock(), patience);
  }
  // Returns a new claim with these options, of a caller that waits for so long.
  [[nodiscard]] store::Claim make_claim(const AcquireOptions& how, base::Duration wait) const;
  // Returns the hold of a grant that is not kept yet, and may have come too late.
  [[nodiscard]] std::shared_ptr<Hold> make_hold(std::string_view name, const store::Claim& claim,
                                                const AcquireOptions& how,
                                                const internal::Granted& granted);
  // Returns whether this is a forked child: nothing of the provider may be touched.
  [[nodiscard]] bool is_inherited() const noexcept { return process_.is_inherited(); }

  // The lease stays, unkept.
  void abandon(Hold& hold);
  // Waiting calls end, renewal ends.
  void shut_down();

  void count(std::string_view counter, std::string_view name) const {
    if (options.metrics.count) {
      options.metrics.count(counter, name, 1);
    }
  }
  void observe(std::string_view duration, std::string_view name, base::Duration value) const {
    if (options.metrics.observe) {
      options.metrics.observe(duration, name, value);
    }
  }

  const internal::Runtime& runtime;
  const std::shared_ptr<store::LeaseStore> store;
  const ProviderOptions options;
  const bool push;
  const bool queues_claims;
  internal::WaitQueues queues;
  internal::LeaseKeeper keeper;
  internal::BackgroundReleases background_releases;

 private:
  ProviderCore(std::shared_ptr<store::LeaseStore> lease_store, ProviderOptions provider_options,
               const internal::Runtime& runtime_used);
  ~ProviderCore() = default;

  const base::ProcessMark process_;
};

}  // namespace holdfast::locks
