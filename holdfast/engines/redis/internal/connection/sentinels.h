#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/mutex.h>
#include <holdfast/engines/redis/internal/connection/command.h>
#include <holdfast/engines/redis/internal/connection/reply.h>
#include <holdfast/engines/redis/internal/connection/route.h>
#include <holdfast/engines/redis/internal/connection/sentinel_answers.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis::internal {

// The Sentinels of a store. Thread-safe; each question is asked over a connection of its own.
//
// A Sentinel that has been cut off from the others may name an old master. So each question goes on
// until more than half of the Sentinels agree, or all were asked, and the newest answer counts. One
// that did not answer is asked last the next time.
class Sentinels {
 public:
  // `options.sentinel` is set.
  explicit Sentinels(RedisOptions options);

  // Blocks until the master is known, or the deadline has come. unavailable: no Sentinel answers;
  // invalid_argument: all of them answer, and none knows the name of the master. The messages name
  // the Sentinels.
  [[nodiscard]] base::Result<Master> find_master(base::Deadline deadline);

  // Opens a connection to a Sentinel that answers. From then on it is asked first: what it has
  // published, it knows.
  [[nodiscard]] base::Result<Route::Opened> open_any(base::Deadline deadline);

  // Ends questions that are under way once the Sentinel that is being asked has answered, or
  // connect_timeout is over, and refuses others.
  void stop() noexcept { is_stopped_ = true; }

  // Sends the commands to one Sentinel, by its place in the list. Returns its replies.
  [[nodiscard]] base::Result<std::vector<Reply>> ask(std::size_t place,
                                                     std::initializer_list<Command> commands,
                                                     base::Deadline deadline) const;

  [[nodiscard]] std::size_t count() const noexcept { return nodes().size(); }
  [[nodiscard]] const std::string& master_name() const noexcept {
    return options_.sentinel->master_name;
  }
  // Returns the options of a connection to one Sentinel, by its place in the list.
  [[nodiscard]] RedisOptions options_of(std::size_t place) const;

 private:
  [[nodiscard]] const std::vector<SentinelOptions::Node>& nodes() const noexcept {
    return options_.sentinel->nodes;
  }
  [[nodiscard]] base::Result<std::optional<Master>> ask_for_master(std::size_t place,
                                                                   base::Deadline deadline) const;
  // Returns the error with the address of the Sentinel.
  [[nodiscard]] base::Error named(std::size_t place, const base::Error& error) const;
  // The places of the list, in the order in which they are asked.
  [[nodiscard]] std::vector<std::size_t> order() const;
  void ask_first(std::size_t place);
  void ask_last(std::size_t place);
  // Returns the error if nobody names a master.
  [[nodiscard]] base::Error failure(std::span<const std::string> failures) const;

  const RedisOptions options_;
  std::atomic<bool> is_stopped_ = false;
  mutable base::Mutex mutex_;
  std::vector<std::size_t> order_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::engines::redis::internal
