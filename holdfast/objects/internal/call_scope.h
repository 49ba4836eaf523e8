#pragma once

#include <string_view>
#include <utility>

#include <holdfast/base/error.h>
#include <holdfast/local/key_guard.h>
#include <holdfast/objects/internal/call_chain.h>
#include <holdfast/objects/internal/entrance.h>
#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/internal/lock_order.h>
#include <holdfast/objects/internal/member_function.h>
#include <holdfast/objects/internal/user_code.h>

namespace holdfast::objects::internal {

// One call of one object: from entering the host to the method and back.
class CallScope {
 public:
  explicit CallScope(HostCore& core) : core_(core), entrance_(core.state()) {}
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // Makes sure that the object is in memory until the end of this scope; loads or makes it if
  // needed.
  [[nodiscard]] base::Result<void> begin(ObjectType& type, std::string_view id);
  [[nodiscard]] Object& object() const noexcept { return *activation_->object; }

  // Runs the method and handles its changes.
  template <class Work>
  auto run(Effect effect, Work&& work) {
    auto reply = run_user_code(std::forward<Work>(work));
    auto settled = end(effect);
    if (reply && !settled) [[unlikely]] {
      reply = std::unexpected(std::move(settled).error());
    }
    return reply;
  }

 private:
  [[nodiscard]] base::Result<void> begin_again(const Frame& outer, ObjectType& type,
                                               std::string_view id);
  [[nodiscard]] base::Result<void> activate(ObjectType& type, std::string_view id);
  [[nodiscard]] base::Result<void> end(Effect effect);

  HostCore& core_;
  Entrance entrance_;
  Ranked key_order_;
  local::SharedGuard key_;  // not held if an outer frame of this thread holds it
  Ranked turn_order_;
  local::ExclusiveGuard turn_;
  Activation* activation_ = nullptr;
  Frame frame_;
};

}  // namespace holdfast::objects::internal
