#include <holdfast/engines/redis/internal/subscriber.h>

#include <utility>

#include <holdfast/engines/redis/internal/subscriber_core.h>

namespace holdfast::engines::redis::internal {

Subscriber::Subscriber(RedisOptions options, Callbacks callbacks)
    : core_(std::make_unique<SubscriberCore>(std::move(options), std::move(callbacks))) {}

Subscriber::~Subscriber() {
  if (core_->is_inherited()) {
    // Its thread does not exist in the child, and may have left it in any state.
    (void)core_.release();
  }
}

base::Result<void> Subscriber::subscribe(std::string channel, base::Deadline deadline) {
  if (core_->is_inherited()) {
    return base::fail(base::ErrorCode::unsupported,
                      "this subscriber belongs to the process that this one was forked from");
  }
  return core_->subscribe(std::move(channel), deadline);
}

void Subscriber::unsubscribe(std::string_view channel) {
  if (!core_->is_inherited()) {
    core_->unsubscribe(channel);
  }
}

void Subscriber::reconnect() noexcept {
  if (!core_->is_inherited()) {
    core_->reconnect();
  }
}

void Subscriber::call_for_chores() noexcept { core_->lookout().rouse_host(); }

store::Listener& Subscriber::listener() noexcept { return core_->lookout(); }

bool Subscriber::is_listening() const { return !core_->is_inherited() && core_->is_listening(); }

}  // namespace holdfast::engines::redis::internal
