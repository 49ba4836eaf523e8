#pragma once

#include <holdfast/base/error.h>
#include <holdfast/objects/internal/call_chain.h>
#include <holdfast/objects/internal/call_gate.h>
#include <holdfast/objects/internal/host_state.h>
#include <holdfast/objects/internal/lock_order.h>

namespace holdfast::objects::internal {

// One operation inside the host: the first lock of each. An operation that is nested in a running
// method is inside already, and continues while a stop waits for that method.
class Entrance {
 public:
  explicit Entrance(HostState& host) : host_(host) {}
  ~Entrance() {
    if (place_ != nullptr) host_.gate.leave(*place_);
  }
  Entrance(const Entrance&) = delete;
  Entrance& operator=(const Entrance&) = delete;

  // unavailable: the host is stopped. invalid_argument: called from to_data or from_data.
  [[nodiscard]] base::Result<void> enter() {
    if (const Frame* const outer = Frame::innermost(&host_)) [[unlikely]] {
      return outer->doing() == Doing::data ? from_data_hook() : base::Result<void>();
    }
    order_ = Ranked(&host_, Rank::stop);
    place_ = host_.gate.enter();
    return place_ != nullptr ? base::Result<void>() : stopped();
  }

 private:
  [[nodiscard, gnu::cold]] static base::Result<void> from_data_hook();
  [[nodiscard, gnu::cold]] static base::Result<void> stopped();

  HostState& host_;
  Ranked order_;
  CallGate::Place* place_ = nullptr;
};

}  // namespace holdfast::objects::internal
