#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <holdfast/base/error.h>
#include <holdfast/objects/internal/call_chain.h>
#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/internal/operation.h>

namespace holdfast::objects::internal {

struct Member {
  ObjectType* type;
  std::string_view id;
};

// Several objects that one caller uses alone, changed and saved atomically.
class TogetherScope {
 public:
  // The ids and the limits must outlive it.
  TogetherScope(HostCore& host, std::vector<Member> members, const Limits& limits);
  ~TogetherScope();
  TogetherScope(const TogetherScope&) = delete;
  TogetherScope& operator=(const TogetherScope&) = delete;

  // Makes sure that all objects are in memory, and that no other caller can reach them.
  [[nodiscard]] base::Result<void> begin();
  // Returns an object, in the order of the constructor.
  [[nodiscard]] Object& object(std::size_t index) const noexcept {
    return *activations_[index]->object;
  }
  // Saves all or none; if none, restores the state before the work.
  [[nodiscard]] base::Result<void> commit();
  // Restores the state before the work.
  void roll_back();

 private:
  [[nodiscard]] base::Result<void> check() const;
  [[nodiscard]] base::Result<void> lock_and_activate(std::size_t index);
  void mark_used();
  void leave_frames() noexcept;
  void drop(std::size_t index);

  HostCore& host_;
  const std::vector<Member> members_;
  Operation operation_;
  std::vector<Exclusive> keys_;
  std::vector<Activation*> activations_;  // null: not loaded yet, or dropped
  std::vector<nlohmann::json> before_;
  std::unique_ptr<Frame[]> frames_;
};

}  // namespace holdfast::objects::internal
