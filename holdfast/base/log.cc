#include <holdfast/base/log.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <utility>

namespace holdfast::base {

std::string_view to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
  }
  return "unrecognised";
}

struct Logger::State {
  const LogSink sink;
  const LogLevel minimum;
  std::atomic<std::uint64_t> dropped{0};
};

Logger::Logger(LogSink sink, LogLevel minimum)
    : state_{sink ? std::make_shared<State>(std::move(sink), minimum) : nullptr} {}

bool Logger::enabled(LogLevel level) const noexcept { return state_ && level >= state_->minimum; }

void Logger::log(LogLevel level, std::string_view text) const noexcept {
  if (!enabled(level)) return;
  try {
    state_->sink(level, text);
  } catch (...) {
    state_->dropped.fetch_add(1, std::memory_order_relaxed);
  }
}

std::uint64_t Logger::dropped() const noexcept {
  return state_ ? state_->dropped.load(std::memory_order_relaxed) : 0;
}

Logger stderr_logger(LogLevel minimum) {
  return Logger{[](LogLevel level, std::string_view text) {
                  std::string line{"holdfast "};
                  line += to_string(level);
                  line += ": ";
                  line += text;
                  line += '\n';
                  std::fwrite(line.data(), 1, line.size(), stderr);
                },
                minimum};
}

}  // namespace holdfast::base
