#include <holdfast/objects/internal/call_scope.h>

#include <algorithm>
#include <chrono>
#include <string>

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

Result<void> CallScope::begin(ObjectType& type, std::string_view id) {
  HostState& host = core_.state();
  if (auto entered = entrance_.enter(); !entered) [[unlikely]] {
    return entered;
  }
  if (const Frame* const outer = Frame::of(type, id)) [[unlikely]] {
    return begin_again(*outer, type, id);
  }
  key_order_ = Ranked(&host, Rank::key);
  auto key = share_key(type, id, host);
  if (!key) [[unlikely]] {
    return std::unexpected(std::move(key).error());
  }
  key_ = *std::move(key);
  activation_ = type.table.find(id);
  if (activation_ == nullptr || !activation_->usable()) [[unlikely]] {
    if (auto made = activate(type, id); !made) {
      return made;
    }
  }
  if (type.options.calls == Calls::serial) {
    turn_order_ = Ranked(&host, Rank::turn);
    auto turn = take_turn(type, id, host);
    if (!turn) {
      return std::unexpected(std::move(turn).error());
    }
    turn_ = *std::move(turn);
  }
  frame_.enter(&host, type, activation_->id, activation_, Doing::call);
  return {};
}

Result<void> CallScope::begin_again(const Frame& outer, ObjectType& type, std::string_view id) {
  if (outer.doing() == Doing::hook) {
    return fail(ErrorCode::invalid_argument,
                type.describe(id) + " cannot be called from its own hooks");
  }
  if (outer.doing() == Doing::call && type.options.calls == Calls::serial) {
    return fail(ErrorCode::invalid_argument,
                type.describe(id) +
                    " is serial: a call that comes from its own method would wait for itself");
  }
  activation_ = outer.activation();
  frame_.enter(&core_.state(), type, activation_->id, activation_, outer.doing());
  return {};
}

// A caller must not hold the shared key while it waits for the exclusive one. And a caller that
// waits for the exclusive key may have looked before another caller made the object, which is now
// in a long call: so it waits only briefly, and looks again. It thereby gives up its position in
// the queue to callers that create or delete the object.
Result<void> CallScope::activate(ObjectType& type, std::string_view id) {
  constexpr std::chrono::microseconds kShortest{100};
  constexpr std::chrono::microseconds kLongest{50'000};
  const local::KeyWait wait = core_.state().wait_to_begin();
  for (auto moment = kShortest;; moment = std::min(2 * moment, kLongest)) {
    key_.unlock();
    if (auto key = own(type.keys, type, id, at_most(moment, wait))) {
      const auto active = core_.activator().activate(type, id);
      if (!active) {
        return std::unexpected(active.error());
      }
      activation_ = active->activation;
      key_ = (*std::move(key)).downgrade();
      return {};
    } else if (key.error().code != ErrorCode::timed_out || is_over(wait)) {
      return std::unexpected(std::move(key).error());
    }
    auto shared = share_key(type, id, wait);
    if (!shared) {
      return std::unexpected(std::move(shared).error());
    }
    key_ = *std::move(shared);
    activation_ = type.table.find(id);
    if (activation_ != nullptr && activation_->usable()) {
      return {};
    }
  }
}

Result<void> CallScope::end(Effect effect) {
  HostState& host = core_.state();
  frame_.leave();
  if (effect == Effect::changes) {
    mark_dirty(*activation_);
  }
  if (!key_) {
    return {};  // the outer call of this object, or `together`, handles the rest
  }
  if (host.options.idle_after) {
    activation_->last_used.store(host.options.clock->coarse_now().time_since_epoch().count(),
                                 std::memory_order_relaxed);
  }
  turn_.unlock();
  turn_order_.reset();
  // Changed by this method, or by one that it called.
  const bool changed =
      effect == Effect::changes || activation_->dirty.load(std::memory_order_acquire);
  if (activation_->type.options.save == SaveWhen::each_call && changed) {
    if (auto saved = core_.writer().save(*activation_, Turn::needed, host.wait_to_end()); !saved) {
      return std::unexpected(in_context("the method has run, but its effect may not be saved",
                                        std::move(saved).error()));
    }
    return {};
  }
  if (!activation_->usable()) [[unlikely]] {
    return fail(ErrorCode::lost, "another process may have got " +
                                     activation_->type.describe(activation_->id) +
                                     " during the call; what it changed may not be saved");
  }
  return {};
}

}  // namespace holdfast::objects::internal
