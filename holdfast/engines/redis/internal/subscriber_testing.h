#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/engines/redis/internal/connection_testing.h>
#include <holdfast/engines/redis/internal/subscriber.h>

namespace holdfast::engines::redis::internal {

using Texts = std::vector<std::string>;

// The messages and gaps that a subscriber has reported.
class Heard {
 public:
  Subscriber::Callbacks callbacks() {
    return {.on_message = [this](std::string_view text) { add(std::string(text)); },
            .on_gap = [this] { add("a gap"); }};
  }

  // Waits until there are `count`; what there is then.
  Texts wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    heard_.wait_for(lock, std::chrono::seconds(60), [&] { return all_.size() >= count; });
    return all_;
  }

 private:
  void add(std::string text) {
    const std::lock_guard guard(mutex_);
    all_.push_back(std::move(text));
    heard_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable heard_;
  Texts all_;
};

}  // namespace holdfast::engines::redis::internal
