#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace holdfast::base {

enum class LogLevel : std::uint8_t { debug, info, warning, error };

// Returns the enumerator's name, such as "warning".
std::string_view to_string(LogLevel level) noexcept;

// Receives one message without a line end. May be called from several threads at the same time;
// must not call back into the code that logs. The text is valid only during the call.
using LogSink = std::function<void(LogLevel, std::string_view)>;

// The log of Holdfast; silent by default.
//
// A value type: copies share one sink, which lives as long as the last of them. Thread-safe if the
// sink is. A call blocks as long as the sink does. An exception of the sink is swallowed: the
// message is dropped and counted, because a failing log must not break a lock.
//
//   Logger logger{[](LogLevel level, std::string_view text) { my_log(level, text); }};
//   logger.warn("renewal is late");
class Logger {
 public:
  // Makes a silent logger.
  Logger() noexcept = default;

  // Passes on messages of `minimum` and above. An empty sink makes it silent.
  explicit Logger(LogSink sink, LogLevel minimum = LogLevel::debug);

  // Returns whether a message of this level reaches a sink: check before building a costly one.
  [[nodiscard]] bool enabled(LogLevel level) const noexcept;

  void log(LogLevel level, std::string_view text) const noexcept;
  void debug(std::string_view text) const noexcept { log(LogLevel::debug, text); }
  void info(std::string_view text) const noexcept { log(LogLevel::info, text); }
  void warn(std::string_view text) const noexcept { log(LogLevel::warning, text); }
  void error(std::string_view text) const noexcept { log(LogLevel::error, text); }

  // Returns how many messages were dropped because the sink threw, over all copies of this logger.
  [[nodiscard]] std::uint64_t dropped() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Returns a logger that writes "holdfast warning: renewal is late" and a line end to standard
// error, each message in one piece.
Logger stderr_logger(LogLevel minimum = LogLevel::info);

}  // namespace holdfast::base
