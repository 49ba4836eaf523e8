#include <holdfast/objects/internal/call_scope.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <holdfast/base/try.h>

namespace holdfast::objects::internal {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

bool is_over(const local::KeyWait& wait) {
  return wait.until && *wait.until <= std::chrono::steady_clock::now();
}

local::KeyWait at_most(std::chrono::microseconds moment, local::KeyWait wait) {
  const auto end = std::chrono::steady_clock::now() + moment;
  wait.until = wait.until ? std::min(*wait.until, end) : end;
  return wait;
}

}  // namespace

Result<void> CallScope::begin(std::string_view id) {
  const std::size_t hash = type_.table.expect(id);
  HOLDFAST_TRY(operation_.enter());
  if (const Frame* const outer = Frame::of(type_, id)) [[unlikely]] {
    return begin_again(*outer);
  }
  HOLDFAST_TRY_LET(key_, operation_.share_key(type_, id));
  activation_ = type_.table.find(id, hash);
  if (activation_ == nullptr || !activation_->usable()) [[unlikely]] {
    HOLDFAST_TRY(activate(id));
  }
  if (type_.options.calls == Calls::serial) {
    HOLDFAST_TRY_LET(turn_, operation_.own(type_.turns, Rank::turn, type_, id));
  }
  frame_.enter(&host_, type_, activation_->id, activation_, Doing::call);
  return {};
}

Result<void> CallScope::begin_again(const Frame& outer) {
  const std::string_view id = outer.id();
  if (outer.doing() == Doing::hook) {
    return fail(ErrorCode::invalid_argument,
                type_.describe(id) + " cannot be called from its own hooks");
  }
  if (outer.doing() == Doing::call && type_.options.calls == Calls::serial) {
    return fail(ErrorCode::invalid_argument,
                type_.describe(id) +
                    " is serial: a call that comes from its own method would wait for itself");
  }
  activation_ = outer.activation();
  frame_.enter(&host_, type_, id, activation_, outer.doing());
  return {};
}

// A caller must not hold the shared key while it waits for the exclusive one. And a caller that
// waits for the exclusive key may have looked before another caller made the object, which is now
// in a long call: so it waits only briefly, and looks again. It thereby gives up its position in
// the queue to callers that create or delete the object.
Result<void> CallScope::activate(std::string_view id) {
  constexpr std::chrono::microseconds kShortest{100};
  constexpr std::chrono::microseconds kLongest{50'000};
  const local::KeyWait wait = operation_.wait();
  for (auto moment = kShortest;; moment = std::min(2 * moment, kLongest)) {
    key_.unlock();
    const local::KeyWait brief = at_most(moment, wait);
    if (auto key = operation_.own(type_.keys, Rank::key, type_, id, &brief)) {
      HOLDFAST_TRY_LET(const auto active, host_.activator.activate(type_, id, operation_));
      activation_ = active.activation;
      key_ = {std::move(key->order), std::move(key->guard).downgrade()};
      return {};
    } else if (key.error().code != ErrorCode::timed_out || is_over(wait)) {
      return std::unexpected(std::move(key).error());
    }
    HOLDFAST_TRY_LET(key_, operation_.share_key(type_, id, &wait));
    activation_ = type_.table.find(id);
    if (activation_ != nullptr && activation_->usable()) {
      return {};
    }
  }
}

Result<void> CallScope::end(Effect effect) {
  frame_.leave();
  if (effect == Effect::changes) {
    mark_dirty(*activation_);
  }
  if (!key_.guard) {
    return {};  // the outer call of this object, or `together`, handles the rest
  }
  if (host_.options.idle_after) {
    activation_->last_used.store(host_.options.clock->coarse_now().time_since_epoch().count(),
                                 std::memory_order_relaxed);
  }
  turn_.unlock();
  // Changed by this method, or by one that it called.
  const bool changed =
      effect == Effect::changes || activation_->dirty.load(std::memory_order_acquire);
  if (type_.options.save == SaveWhen::each_call && changed) {
    operation_.commit();
    if (auto saved = host_.writer.save(*activation_, Turn::needed, operation_); !saved) {
      return std::unexpected(in_context("the method has run, but its effect may not be saved",
                                        std::move(saved).error()));
    }
    return {};
  }
  if (!activation_->usable()) [[unlikely]] {
    return fail(ErrorCode::lost, "another process may have got " + type_.describe(activation_->id) +
                                     " during the call; what it changed may not be saved");
  }
  return {};
}

}  // namespace holdfast::objects::internal
