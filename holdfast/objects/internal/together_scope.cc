#include <holdfast/objects/internal/together_scope.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/objects/internal/user_code.h>

namespace holdfast::objects::internal {

using base::ErrorCode;
using base::fail;
using base::Result;

TogetherScope::TogetherScope(HostCore& host, std::vector<Member> members, const Limits& limits)
    : host_(host),
      members_(std::move(members)),
      operation_(host, limits),
      activations_(members_.size()),
      before_(members_.size()),
      frames_(std::make_unique<Frame[]>(members_.size())) {}

TogetherScope::~TogetherScope() { leave_frames(); }

Result<void> TogetherScope::begin() {
  HOLDFAST_TRY(operation_.enter());
  HOLDFAST_TRY(check());
  // The same order for all callers; otherwise two of them could deadlock.
  std::vector<std::size_t> order(members_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [this](std::size_t index) {
    return std::pair(members_[index].type->place, members_[index].id);
  });
  for (const std::size_t index : order) {
    HOLDFAST_TRY(lock_and_activate(index));
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    frames_[i].enter(&host_, *members_[i].type, members_[i].id, activations_[i], Doing::together);
  }
  return {};
}

Result<void> TogetherScope::check() const {
  if (!host_.repository->capabilities().atomic_batch) {
    return fail(ErrorCode::unsupported,
                "the repository cannot save several objects as one, so nothing is done together");
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto& [type, id] = members_[i];
    if (Frame::of(*type, id) != nullptr) {
      return fail(ErrorCode::invalid_argument,
                  "`together` with " + type->describe(id) +
                      " from its own method or hook would wait for itself");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (members_[j].type == type && members_[j].id == id) {
        return fail(ErrorCode::invalid_argument, type->describe(id) + " is named twice");
      }
    }
  }
  return {};
}

Result<void> TogetherScope::lock_and_activate(std::size_t index) {
  const auto& [type, id] = members_[index];
  HOLDFAST_TRY_LET(keys_.emplace_back(), operation_.own_key(*type, id));
  HOLDFAST_TRY_LET(const auto active, host_.activator.activate(*type, id, operation_));
  activations_[index] = active.activation;
  HOLDFAST_TRY_LET(before_[index], Writer::data_of(*active.activation));
  return {};
}

Result<void> TogetherScope::commit() {
  leave_frames();
  mark_used();
  operation_.commit();
  auto saved = host_.writer.save_together(activations_, operation_);
  if (saved) {
    return {};
  }
  if (saved.error().code == ErrorCode::unknown_outcome) {
    // The stored state decides: the next call loads it.
    for (std::size_t i = 0; i < activations_.size(); ++i) {
      drop(i);
    }
  } else {
    roll_back();
  }
  return saved;
}

void TogetherScope::roll_back() {
  leave_frames();
  mark_used();
  for (std::size_t i = 0; i < activations_.size(); ++i) {
    if (!activations_[i]->usable()) {
      mark_lost(*activations_[i]);
      drop(i);
      continue;
    }
    Frame frame;
    frame.enter(&host_, *members_[i].type, members_[i].id, activations_[i], Doing::data);
    const auto restored = run_user_code([&] { activations_[i]->object->from_data(before_[i]); });
    frame.leave();
    if (!restored) {
      host_.options.logger.warn(members_[i].type->describe(members_[i].id) +
                                " could not be taken back and leaves memory; what was not "
                                "saved of it is gone: " +
                                base::to_string(restored.error()));
      drop(i);
    }
  }
}

void TogetherScope::mark_used() {
  const auto now = host_.options.clock->coarse_now().time_since_epoch().count();
  for (Activation* const activation : activations_) {
    activation->last_used.store(now, std::memory_order_relaxed);
  }
}

void TogetherScope::leave_frames() noexcept {
  for (std::size_t i = members_.size(); i > 0; --i) {
    frames_[i - 1].leave();
  }
}

void TogetherScope::drop(std::size_t index) {
  host_.activator.drop(*members_[index].type, members_[index].id);
  activations_[index] = nullptr;
}

}  // namespace holdfast::objects::internal
