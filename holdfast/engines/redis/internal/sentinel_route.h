#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/mutex.h>
#include <holdfast/engines/redis/internal/connection/route.h>
#include <holdfast/engines/redis/internal/connection/sentinels.h>
#include <holdfast/engines/redis/internal/subscriber.h>

namespace holdfast::engines::redis::internal {

// The route to the master that Sentinels name. They are asked before each connection, and the
// server confirms that it is a master.
//
// With notify(), the first connection starts a thread that listens to one Sentinel for
// `+switch-master`. After a gap in which such a message may have been missed, that thread asks
// where the master is.
class SentinelRoute final : public Route {
 public:
  // `options.sentinel` is set.
  explicit SentinelRoute(RedisOptions options);

  [[nodiscard]] base::Result<Opened> open(base::Deadline deadline) override;
  void notify(OnMove on_move) override;
  void stop_notifying() override;

 private:
  [[nodiscard]] base::Result<Opened> open_master(const Master& master, base::Deadline deadline);
  void start_listening();
  void on_message(std::string_view message);
  void on_gap();

  const RedisOptions options_;
  const std::shared_ptr<Sentinels> sentinels_;
  OnMove on_move_;  // set before the first open()

  base::Mutex mutex_;
  bool is_stopped_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::unique_ptr<Subscriber> subscriber_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::engines::redis::internal
