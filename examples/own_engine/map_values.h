#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/store/key_values.h>
#include <holdfast/store/watch_list.h>

namespace own_engine {

using holdfast::base::Deadline;
using holdfast::base::Duration;
using holdfast::base::Result;

// The storage of this example: a map. For a real one, each function is one request to your
// database.
class MapValues final : public holdfast::store::KeyValues {
 public:
  explicit MapValues(const holdfast::base::Clock& clock) : clock_(clock) {}

  Result<std::optional<std::string>> get(std::string_view key, Deadline) override {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    return found->second;
  }

  Result<bool> insert(std::string_view key, std::string_view value, Duration, Deadline) override {
    const std::lock_guard lock(mutex_);
    return values_.try_emplace(std::string(key), value).second;
  }

  Result<bool> replace_if_equal(std::string_view key, std::string_view expected,
                                std::string_view value, Duration, Deadline) override {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    if (found == values_.end() || found->second != expected) return false;
    found->second = value;
    return true;
  }

  Result<bool> remove_if_equal(std::string_view key, std::string_view expected, Deadline) override {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    if (found == values_.end() || found->second != expected) return false;
    values_.erase(found);
    return true;
  }

  Result<std::vector<std::string>> keys(std::string_view prefix, std::string_view after,
                                        std::size_t limit, Deadline) override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> found;
    auto at = after < prefix ? values_.lower_bound(prefix) : values_.upper_bound(after);
    for (; at != values_.end() && at->first.starts_with(prefix) && found.size() < limit; ++at) {
      found.push_back(at->first);
    }
    return found;
  }

  Result<Duration> now(Deadline) override { return clock_.now().time_since_epoch(); }

 private:
  const holdfast::base::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> values_;
};

// The bus of this example: within one process. For a real one, publish and subscribe on your
// server.
class ProcessBus final : public holdfast::store::MessageBus {
 public:
  void publish(std::string_view name) override { watches_.notify(name, {}); }

  Result<holdfast::store::Watch> subscribe(std::string_view name,
                                           std::function<void()> callback) override {
    return watches_.subscribe(name, [callback = std::move(callback)](const auto&) { callback(); });
  }

 private:
  holdfast::store::WatchList watches_;
};

}  // namespace own_engine
