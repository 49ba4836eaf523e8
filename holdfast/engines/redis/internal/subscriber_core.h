#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <holdfast/base/process_mark.h>
#include <holdfast/engines/redis/internal/link/backoff.h>
#include <holdfast/engines/redis/internal/lookout.h>
#include <holdfast/engines/redis/internal/subscriber.h>
#include <holdfast/engines/redis/internal/subscriber_channels.h>

namespace holdfast::engines::redis::internal {

// What a Subscriber is, in a process where its thread exists.
class SubscriberCore {
 public:
  SubscriberCore(RedisOptions options, Subscriber::Callbacks callbacks);
  ~SubscriberCore();
  SubscriberCore(const SubscriberCore&) = delete;
  SubscriberCore& operator=(const SubscriberCore&) = delete;

  base::Result<void> subscribe(std::string channel, base::Deadline deadline);
  void unsubscribe(std::string_view channel);
  void reconnect() noexcept;
  [[nodiscard]] bool is_listening() const;
  [[nodiscard]] bool is_inherited() const noexcept { return process_.is_inherited(); }
  [[nodiscard]] Lookout& lookout() noexcept { return lookout_; }

 private:
  using Guard = std::unique_lock<std::mutex>;

  // The thread's.
  void run();
  // Until the connection is lost: why, or success if it is to stop.
  base::Result<void> serve();
  base::Result<void> converse();
  base::Deadline lost(const base::Error& error);
  bool is_stopping() const;

  // By whoever works on the connection.
  base::Result<void> tell_changes(Connection& connection);
  base::Result<void> see_to_silence(Connection& connection, base::Deadline& next);
  base::Result<void> read(Connection& connection);
  base::Result<void> handle(const Reply& reply);
  void close_gap();

  // Constant after construction.
  const RedisOptions options_;
  const Subscriber::Callbacks callbacks_;
  const base::ProcessMark process_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Protected by mutex_.
  SubscriberChannels channels_;
  bool stopping_ = false;
  bool is_connected_ = false;
  base::TimePoint connected_at_{};  // the last time
  bool has_gap_ = false;
  std::uint64_t failures_ = 0;
  std::string last_failure_;
  Backoff backoff_;
  std::thread thread_;

  std::atomic<bool> is_to_reconnect_ = false;

  std::optional<base::TimePoint> pinged_;  // of whoever works on the connection
  Lookout lookout_;                        // last: it uses the others
};

}  // namespace holdfast::engines::redis::internal
