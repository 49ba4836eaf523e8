#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::engines::redis::internal {

// Which channels a subscriber wants, and how far the server knows. Pure. Not thread-safe.
class SubscriberChannels {
 public:
  // One round of requests to the server.
  struct Changes {
    std::vector<std::string> subscribe;
    std::vector<std::string> unsubscribe;
  };

  void want(std::string channel) { channels_.try_emplace(std::move(channel), Progress::wanted); }

  void drop(std::string_view channel) {
    const auto found = channels_.find(channel);
    if (found == channels_.end()) {
      return;
    }
    if (found->second != Progress::wanted) {
      leaving_.push_back(found->first);
    }
    channels_.erase(found);
  }

  // What the server is to be told now.
  [[nodiscard]] Changes take_changes() {
    Changes changes;
    changes.unsubscribe.swap(leaving_);
    for (auto& [channel, progress] : channels_) {
      if (progress == Progress::wanted) {
        changes.subscribe.push_back(channel);
        progress = Progress::asked;
      }
    }
    return changes;
  }

  void confirm(std::string_view channel) {
    const auto found = channels_.find(channel);
    // A late confirmation of what was left and is wanted again is not this one's.
    if (found != channels_.end() && found->second == Progress::asked) {
      found->second = Progress::confirmed;
    }
  }

  // The connection is gone, and with it what the server knew.
  void forget_progress() {
    leaving_.clear();
    for (auto& [channel, progress] : channels_) {
      progress = Progress::wanted;
    }
  }

  [[nodiscard]] bool is_confirmed(std::string_view channel) const {
    const auto found = channels_.find(channel);
    return found != channels_.end() && found->second == Progress::confirmed;
  }

  [[nodiscard]] bool all_confirmed() const {
    for (const auto& [channel, progress] : channels_) {
      if (progress != Progress::confirmed) {
        return false;
      }
    }
    return true;
  }

 private:
  enum class Progress : unsigned char { wanted, asked, confirmed };

  std::map<std::string, Progress, std::less<>> channels_;
  std::vector<std::string> leaving_;
};

}  // namespace holdfast::engines::redis::internal
