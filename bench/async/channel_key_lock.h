#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

namespace holdfast::bench_async {

// The usual home-made lock by key: a map with a channel per key in use, with room for one token. A
// caller that puts in the token holds the key. No readers, no deadlines, and the contexts must
// outlive it.
template <class Channel, class Mutex>
class ChannelKeyLock {
  struct Entry {
    explicit Entry(const boost::asio::any_io_executor& executor) : token(executor, 1) {}
    Channel token;
    std::size_t users = 0;
  };
  using Map = std::unordered_map<std::string, Entry>;

 public:
  class Guard {
   public:
    Guard() = default;
    Guard(ChannelKeyLock& locks, typename Map::iterator entry) : locks_(&locks), entry_(entry) {}
    Guard(Guard&& other) noexcept
        : locks_(std::exchange(other.locks_, nullptr)), entry_(other.entry_) {}
    Guard& operator=(Guard&&) = delete;
    ~Guard() {
      if (locks_ != nullptr) locks_->unlock(entry_);
    }

   private:
    ChannelKeyLock* locks_ = nullptr;
    typename Map::iterator entry_;
  };

  explicit ChannelKeyLock(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  boost::asio::awaitable<Guard> lock(std::string key) {
    const auto entry = enter(std::move(key));
    if (!entry->second.token.try_send(boost::system::error_code())) {
      co_await entry->second.token.async_send(boost::system::error_code(),
                                              boost::asio::use_awaitable);
    }
    co_return Guard(*this, entry);
  }

 private:
  typename Map::iterator enter(std::string key) {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.try_emplace(std::move(key), executor_).first;
    ++entry->second.users;
    return entry;
  }
  void unlock(typename Map::iterator entry) {
    const std::lock_guard lock(mutex_);
    entry->second.token.try_receive([](const boost::system::error_code&) {});
    if (--entry->second.users == 0) entries_.erase(entry);
  }

  const boost::asio::any_io_executor executor_;
  Mutex mutex_;
  Map entries_;
};

struct NoMutex {
  void lock() {}
  void unlock() {}
};

using TokenSignature = void(boost::system::error_code);

// For several threads, like AsyncKeyLock.
using SharedChannelKeyLock =
    ChannelKeyLock<boost::asio::experimental::concurrent_channel<TokenSignature>, std::mutex>;
// For one thread only.
using LocalChannelKeyLock =
    ChannelKeyLock<boost::asio::experimental::channel<TokenSignature>, NoMutex>;

}  // namespace holdfast::bench_async
