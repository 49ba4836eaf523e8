#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace holdfast::cli::serve {

// The lines about changes, and about requests for them that were refused. They are written in a
// thread of its own: a reader that stalls stops neither the server nor a change.
//
// Bounded: it keeps kMostLines lines that cannot be written yet, and takes kMostRefusals refusals
// in a second. Of the others it tells how many they were.
//
// Thread-safe. Its destructor gives a reader that has stalled a second.
class AuditLog {
 public:
  enum class Kind : std::uint8_t { change, refusal };
  static constexpr std::size_t kMostLines = 1000;
  static constexpr std::size_t kMostRefusals = 10;

  // SIGPIPE must be ignored if the reader of the descriptor may end.
  explicit AuditLog(int descriptor);
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void add(Kind kind, std::string_view text);

 private:
  using Clock = std::chrono::steady_clock;

  void push(std::string_view text);
  void push_left_out();
  bool may_add(Kind kind);
  void run(const std::stop_token& stop);
  bool wait_until_writable(const std::stop_token& stop) const;

  const int descriptor_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> lines_;  // protected by mutex_
  std::size_t left_out_ = 0;       // protected by mutex_
  std::size_t refusals_ = 0;       // since second_; protected by mutex_
  Clock::time_point second_{};     // protected by mutex_
  std::jthread thread_;            // the last: it uses all of them
};

}  // namespace holdfast::cli::serve
