#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "apps/holdfast/waiting/attend.h"
#include "apps/holdfast/waiting/event.h"

namespace holdfast::cli {

namespace {

constexpr base::Duration kTick = std::chrono::seconds(1);

class Attendant {
 public:
  Attendant(Signals& signals, WaitLine& line) : signals_(signals), line_(line) {}

  std::optional<int> run(const std::function<void(const std::stop_token&)>& work) {
    std::jthread worker([&](const std::stop_token& stop) {
      work(stop);
      done_.set();
    });
    while (!step(worker)) {
    }
    return ending_signal_;
  }

 private:
  // True when the work has ended.
  bool step(std::jthread& worker) {
    std::array<pollfd, 2> sources{{{.fd = done_.descriptor(), .events = POLLIN, .revents = 0},
                                   {.fd = signals_.descriptor(), .events = POLLIN, .revents = 0}}};
    const int ready = poll(sources.data(), sources.size(), pause_ms());
    line_.alive();
    if (ready == 0 && !ending_signal_ && base::boot_clock().now() >= next_tick_) {
      line_.tick();
      next_tick_ = base::boot_clock().now() + kTick;
    }
    if (ready > 0 && sources[1].revents != 0) {
      take_signals(worker);
    }
    return ready > 0 && sources[0].revents != 0;
  }

  // Until the next tick, or until the service manager expects to hear from us.
  [[nodiscard]] int pause_ms() const {
    const base::Duration left = ending_signal_ ? kTick : next_tick_ - base::boot_clock().now();
    const base::Duration pause =
        std::max(std::min(left, line_.alive_every()), base::Duration::zero());
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(pause).count());
  }

  void take_signals(std::jthread& worker) {
    while (const auto signal = signals_.next()) {
      if (signals_.asks_to_end(*signal)) {
        line_.erase();
        ending_signal_ = ending_signal_.value_or(*signal);
        worker.request_stop();
      } else if (*signal == SIGTSTP) {
        line_.erase();
        suspend(Stop::this_process);
      }
    }
  }

  Signals& signals_;
  WaitLine& line_;
  const Event done_;
  std::optional<int> ending_signal_;
  base::TimePoint next_tick_ = base::boot_clock().now() + kTick;
};

}  // namespace

std::optional<int> attend(Signals& signals, WaitLine& line,
                          const std::function<void(const std::stop_token&)>& work) {
  return Attendant(signals, line).run(work);
}

}  // namespace holdfast::cli
