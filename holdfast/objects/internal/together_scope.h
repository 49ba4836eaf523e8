#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <holdfast/base/error.h>
#include <holdfast/local/key_guard.h>
#include <holdfast/objects/internal/call_chain.h>
#include <holdfast/objects/internal/entrance.h>
#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/internal/lock_order.h>

namespace holdfast::objects::internal {

struct Member {
  ObjectType* type;
  std::string_view id;
};

// Several objects for one caller alone, changed and saved as one.
class TogetherScope {
 public:
  // The ids outlive it.
  TogetherScope(HostCore& core, std::vector<Member> members);
  ~TogetherScope();
  TogetherScope(const TogetherScope&) = delete;
  TogetherScope& operator=(const TogetherScope&) = delete;

  // All are there, made if need be, and nobody else can reach them.
  [[nodiscard]] base::Result<void> begin();
  // In the order of the constructor.
  [[nodiscard]] Object& object(std::size_t index) const noexcept {
    return *activations_[index]->object;
  }
  // All or none are saved; where none was, they are as before the work.
  [[nodiscard]] base::Result<void> commit();
  // As before the work.
  void roll_back();

 private:
  [[nodiscard]] base::Result<void> check() const;
  [[nodiscard]] base::Result<void> lock_and_activate(std::size_t index);
  void mark_used();
  void leave_frames() noexcept;
  void drop(std::size_t index);

  HostCore& core_;
  const std::vector<Member> members_;
  Entrance entrance_;
  std::vector<Ranked> orders_;
  std::vector<local::ExclusiveGuard> keys_;
  std::vector<Activation*> activations_;  // null: not there, or not there any more
  std::vector<nlohmann::json> before_;
  std::unique_ptr<Frame[]> frames_;
};

}  // namespace holdfast::objects::internal
