#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include <fmt/core.h>

#include <holdfast/base/printable.h>

#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/serve/audit_log.h"

namespace holdfast::cli::serve {

AuditLog::AuditLog(int descriptor)
    : descriptor_(descriptor), thread_([this](const std::stop_token& stop) { run(stop); }) {}

AuditLog::~AuditLog() {
  const std::lock_guard guard(mutex_);
  push_left_out();
}

void AuditLog::add(Kind kind, std::string_view text) {
  const std::lock_guard guard(mutex_);
  if (!may_add(kind)) {
    ++left_out_;
    return;
  }
  push_left_out();
  push(text);
  changed_.notify_one();
}

bool AuditLog::may_add(Kind kind) {
  if (lines_.size() >= kMostLines) {
    return false;
  }
  if (kind == Kind::change) {
    return true;
  }
  const Clock::time_point now = Clock::now();
  if (now - second_ >= std::chrono::seconds(1)) {
    second_ = now;
    refusals_ = 0;
  }
  return ++refusals_ <= kMostRefusals;
}

// A pipe that can be written to takes so much at once.
void AuditLog::push(std::string_view text) {
  std::string line =
      fmt::format("{} holdfast: audit: {}", utc_time(std::chrono::system_clock::now()),
                  base::printable_message(text));
  line.resize(std::min<std::size_t>(line.size(), PIPE_BUF - 1));
  lines_.push_back(std::move(line) + "\n");
}

void AuditLog::push_left_out() {
  if (left_out_ > 0) {
    push(fmt::format("{} lines are left out here", std::exchange(left_out_, 0)));
  }
}

void AuditLog::run(const std::stop_token& stop) {
  for (;;) {
    std::string line;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !lines_.empty(); })) {
        return;
      }
      line = std::move(lines_.front());
      lines_.pop_front();
    }
    if (!wait_until_writable(stop)) {
      return;
    }
    // A line that nobody can read is lost: there is no other place to say so.
    static_cast<void>(::write(descriptor_, line.data(), line.size()));
  }
}

bool AuditLog::wait_until_writable(const std::stop_token& stop) const {
  constexpr int kPieceMs = 100;
  for (int left = 10; left > 0; left -= stop.stop_requested() ? 1 : 0) {
    pollfd target{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    if (poll(&target, 1, kPieceMs) > 0) {
      return true;
    }
  }
  return false;
}

}  // namespace holdfast::cli::serve
