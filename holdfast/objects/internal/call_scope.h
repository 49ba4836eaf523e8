#pragma once

#include <string_view>
#include <utility>

#include <holdfast/base/error.h>
#include <holdfast/objects/internal/call_chain.h>
#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/internal/member_function.h>
#include <holdfast/objects/internal/operation.h>
#include <holdfast/objects/internal/user_code.h>

namespace holdfast::objects::internal {

// One call of one object: from entering the host to the method and back.
class CallScope {
 public:
  // The limits must outlive it.
  CallScope(HostCore& host, ObjectType& type, const Limits& limits)
      : host_(host), type_(type), operation_(host, limits) {}
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // Makes sure that the object is in memory until the end of this scope; loads or makes it if
  // needed.
  [[nodiscard]] base::Result<void> begin(std::string_view id);
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
  [[nodiscard]] base::Result<void> begin_again(const Frame& outer);
  [[nodiscard]] base::Result<void> activate(std::string_view id);
  [[nodiscard]] base::Result<void> end(Effect effect);

  HostCore& host_;
  ObjectType& type_;
  Operation operation_;
  Shared key_;  // not held if an outer frame of this thread holds it
  Exclusive turn_;
  Activation* activation_ = nullptr;
  Frame frame_;
};

}  // namespace holdfast::objects::internal
