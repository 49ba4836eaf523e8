#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/internal/due_index.h>
#include <holdfast/locks/internal/renewal_schedule.h>
#include <holdfast/store/claim.h>

namespace holdfast::locks {

class ProviderCore;

// One lease that this process holds: shared by the handle and the keeper.
class Hold {
 public:
  enum class Status : std::uint8_t { held, lost, ended };

  Hold(std::shared_ptr<ProviderCore> provider, const base::Clock& holder_clock,
       std::string held_name, const store::Claim& claim, base::FencingToken fencing_token,
       const internal::RenewalSchedule& renewals, OnDestroy at_end, int hand_overs_in_a_row)
      : core(std::move(provider)),
        clock(holder_clock),
        name(std::move(held_name)),
        id(claim.id),
        owner(claim.owner),
        reason(claim.reason),
        on_destroy(at_end),
        in_a_row(hand_overs_in_a_row),
        granted(holder_clock.now()),
        permits(claim.permits),
        token(fencing_token),
        schedule(renewals) {
    publish();
  }

  // Constant after construction.
  const std::shared_ptr<ProviderCore> core;
  const base::Clock& clock;
  const std::string name;
  const base::LeaseId id;
  const std::string owner;
  const std::string reason;
  const OnDestroy on_destroy;
  const int in_a_row;  // hand-overs inside the provider that led here
  const base::TimePoint granted;

  // The handle's: its thread alone changes them, when it releases a part.
  store::Permits permits;
  base::FencingToken token;

  // The keeper's; protected by its mutex.
  internal::RenewalSchedule schedule;
  std::shared_ptr<Hold> kept;  // this hold, while the keeper keeps it
  internal::DuePlace deadline_place;
  internal::DuePlace renewal_place;

  // After a change of `schedule`.
  void publish() noexcept {
    valid_until_.store(schedule.valid_until().time_since_epoch().count(),
                       std::memory_order_release);
  }

  [[nodiscard]] base::TimePoint valid_until() const noexcept {
    return base::TimePoint(base::Duration(valid_until_.load(std::memory_order_acquire)));
  }
  [[nodiscard]] Status status() const noexcept { return status_.load(std::memory_order_acquire); }
  // Set by the keeper while a renewal is under way.
  void set_extending(bool extending) noexcept {
    extending_.store(extending, std::memory_order_release);
  }
  [[nodiscard]] bool extending() const noexcept {
    return extending_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::stop_token lost() const { return lost_.get_token(); }

  // An error unless it is held at this moment; if it is not any more, it is lost from now on.
  [[nodiscard]] base::Result<void> check() {
    if (clock.now() >= valid_until()) {
      lose();
    }
    switch (status()) {
      case Status::held: return {};
      case Status::ended: return base::fail(base::ErrorCode::not_held, "the lock was released");
      case Status::lost: break;
    }
    return base::fail(base::ErrorCode::lost, "the lease was not renewed in time, or was stolen");
  }

  // Returns how long the store may be asked about it: as long as the lease lasts.
  [[nodiscard]] base::Duration patience(base::TimePoint now) const noexcept {
    constexpr base::Duration kLeast = std::chrono::milliseconds(100);
    return std::max<base::Duration>(valid_until() - now, kLeast);
  }

  // Notes that its holder gives it back, held or lost. True for the first caller.
  bool give_back() noexcept { return !given_back_.exchange(true, std::memory_order_acq_rel); }
  [[nodiscard]] bool given_back() const noexcept {
    return given_back_.load(std::memory_order_acquire);
  }

  // True for the one caller who makes it so.
  bool end() noexcept { return leave(Status::ended); }
  bool lose() {
    if (!leave(Status::lost)) {
      return false;
    }
    lost_.request_stop();
    return true;
  }

 private:
  bool leave(Status to) noexcept {
    Status held = Status::held;
    return status_.compare_exchange_strong(held, to, std::memory_order_acq_rel);
  }

  std::atomic<base::Duration::rep> valid_until_{0};
  std::atomic<Status> status_{Status::held};
  std::atomic<bool> extending_{false};
  std::atomic<bool> given_back_{false};
  std::stop_source lost_;
};

}  // namespace holdfast::locks
