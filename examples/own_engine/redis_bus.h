// A MessageBus over Redis PUBLISH and SUBSCRIBE: what makes waiters of an engine of your own wake
// at once, also in other processes.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include <hiredis/hiredis.h>

#include <holdfast/base/mutex.h>
#include <holdfast/store/key_values.h>
#include <holdfast/store/watch_list.h>

namespace own_engine {

// The names travel in the messages of one channel: every process gets every hint, and drops those
// that nobody there waits for.
//
// Thread-safe. `publish` blocks for the server at most as long as `kPatience`. While the server is
// unreachable, hints get lost, and waiters poll.
class RedisBus final : public holdfast::store::MessageBus {
 public:
  RedisBus(std::string host, int port, std::string channel)
      : host_(std::move(host)), port_(port), channel_(std::move(channel)) {}
  ~RedisBus() override {
    {
      const holdfast::base::MutexLock lock(mutex_);
      is_ending_ = true;
      if (listening_ != nullptr) {
        ::shutdown(listening_->fd, SHUT_RDWR);  // ends the read that the thread waits in
      }
      ended_.notify_all();
    }
    thread_.join();
  }

  void publish(std::string_view name) override {
    const holdfast::base::MutexLock lock(publisher_mutex_);
    if (publisher_ == nullptr) {
      publisher_ = connect();
    }
    if (publisher_ != nullptr &&
        send(*publisher_, "PUBLISH %b %b", channel_, std::string(name)) == nullptr) {
      publisher_ = nullptr;  // the next one connects again
    }
  }

  holdfast::base::Result<holdfast::store::Watch> subscribe(
      std::string_view name, std::function<void()> callback) override {
    return watches_.subscribe(name, [callback = std::move(callback)](const auto&) { callback(); });
  }

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  using Connection = std::unique_ptr<redisContext, Free>;
  using Reply = std::unique_ptr<redisReply, Free>;
  static constexpr std::chrono::seconds kPatience{1};

  [[nodiscard]] Connection connect() const {
    const timeval patience{.tv_sec = kPatience.count(), .tv_usec = 0};
    Connection connection(redisConnectWithTimeout(host_.c_str(), port_, patience));
    if (connection == nullptr || connection->err != 0) return nullptr;
    redisSetTimeout(connection.get(), patience);
    return connection;
  }

  template <class... Texts>
  [[nodiscard]] static Reply send(redisContext& connection, const char* format,
                                  const Texts&... texts) {
    return std::apply(
        [&](auto... parts) {
          return Reply(static_cast<redisReply*>(redisCommand(&connection, format, parts...)));
        },
        std::tuple_cat(std::pair(texts.data(), texts.size())...));
  }

  void listen() {
    for (holdfast::base::MutexLock lock(mutex_); !is_ending_;) {
      lock.unlock();
      Connection connection = connect();
      lock.lock();
      if (connection != nullptr && !is_ending_) {
        listening_ = connection.get();
        lock.unlock();
        read_messages(*connection);
        lock.lock();
        listening_ = nullptr;
      }
      if (!is_ending_) {
        ended_.wait_for(mutex_, kPatience);
      }
    }
  }

  void read_messages(redisContext& connection) {
    if (send(connection, "SUBSCRIBE %b", channel_) == nullptr) return;
    redisSetTimeout(&connection, timeval{});  // messages may be far apart
    void* message = nullptr;
    while (redisGetReply(&connection, &message) == REDIS_OK) {
      const Reply reply(static_cast<redisReply*>(message));
      if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 &&
          reply->element[2]->type == REDIS_REPLY_STRING) {
        watches_.notify({reply->element[2]->str, reply->element[2]->len}, {});
      }
    }
  }

  const std::string host_;
  const int port_;
  const std::string channel_;
  holdfast::store::WatchList watches_;

  holdfast::base::Mutex publisher_mutex_;
  Connection publisher_ HOLDFAST_GUARDED_BY(publisher_mutex_);

  holdfast::base::Mutex mutex_;
  holdfast::base::ConditionVariable ended_;
  bool is_ending_ HOLDFAST_GUARDED_BY(mutex_) = false;
  redisContext* listening_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
  std::thread thread_{[this] { listen(); }};  // last: it uses all of the others
};

}  // namespace own_engine
