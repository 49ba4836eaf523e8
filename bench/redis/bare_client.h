#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <hiredis/hiredis.h>

namespace holdfast::bench_redis {

// The scripts that the server has run for any client: how many, and how long they took.
struct ScriptStatistics {
  double calls = 0;
  double microseconds = 0;
};

// The code of a program without a lock library: hiredis, one connection each, SET NX PX to lock and
// a script that compares and deletes to unlock. The lower bound of the other figures. Not
// thread-safe.
class BareClient {
 public:
  explicit BareClient(std::uint16_t port);

  void lock(const std::string& name);
  void unlock(const std::string& name);
  // Unlocks with a script that also publishes to the channel `name`.
  void unlock_and_tell(const std::string& name);
  // Runs this many pairs of distinct names, in two writes.
  void lock_and_unlock_many(const std::string& prefix, int count);

  void subscribe(const std::string& channel);
  void await_message();

  // Counts commands by sha only.
  [[nodiscard]] ScriptStatistics script_statistics();
  // Returns how long the server has run scripts and SCAN for any client: all that a listing takes.
  [[nodiscard]] double listing_microseconds();

 private:
  struct Free {
    void operator()(redisContext* context) const noexcept;
  };

  // Ends the program unless the reply is valid.
  template <class... Arguments>
  std::string ask(const char* format, Arguments... arguments);
  std::string hear();

  std::unique_ptr<redisContext, Free> context_;
  std::string unlock_;
  std::string unlock_and_tell_;
};

}  // namespace holdfast::bench_redis
