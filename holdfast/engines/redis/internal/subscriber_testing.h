#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/engines/redis/internal/link_testing.h>
#include <holdfast/engines/redis/internal/subscriber.h>

namespace holdfast::engines::redis::internal {

using Texts = std::vector<std::string>;

// What a subscriber has told, and in which threads.
class Heard {
 public:
  Subscriber::Callbacks callbacks() {
    return {.on_message = [this](std::string_view channel,
                                 std::string_view payload) { add(channel, payload); },
            .on_gap = [this] { add("", "gap"); }};
  }

  // Waits until there are `count`; what there is then.
  Texts wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    heard_.wait_for(lock, std::chrono::seconds(60), [&] { return all_.size() >= count; });
    return all_;
  }

  [[nodiscard]] std::size_t count() {
    const std::lock_guard guard(mutex_);
    return all_.size();
  }
  // How many were told in this thread.
  [[nodiscard]] std::ptrdiff_t count_here() {
    const std::lock_guard guard(mutex_);
    return std::ranges::count(threads_, std::this_thread::get_id());
  }

 private:
  void add(std::string_view channel, std::string_view payload) {
    const std::lock_guard guard(mutex_);
    all_.push_back(std::string(channel) + ":" + std::string(payload));
    threads_.push_back(std::this_thread::get_id());
    heard_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable heard_;
  Texts all_;
  std::vector<std::thread::id> threads_;
};

}  // namespace holdfast::engines::redis::internal
