#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/store/outcome.h>

#include "apps/holdfast/cli/claim_options.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/session.h"
#include "apps/holdfast/waiting/wait_news.h"

namespace holdfast::cli {

// The reason why a caller waits, as the store has just reported it.
struct Obstacle {
  std::string text{};  // held by ci@host (pid 41) "deploy 812" for 3m · lease 8s left
  Json details{};      // an object with the same for programs
  WaitNews::Tokens holders{};
};

[[nodiscard]] Obstacle held_by(const std::optional<store::NameState>& state);

// Asks the store, which must answer by the deadline.
using AskObstacle = std::function<base::Result<Obstacle>(const base::Deadline&)>;

// The way in which a wait is reported.
struct WaitStyle {
  Reminders reminders = Reminders::every_minute;
  std::string_view status = "waiting for";  // and the name, for the service manager
};

[[nodiscard]] inline WaitStyle style_of(const WaitOptions& options) noexcept {
  return {.reminders = options.quiet ? Reminders::never : Reminders::every_minute};
}

// One wait: what is waited for, and for how long.
struct Wait {
  std::string name;
  base::Duration at_most;  // base::Duration::max(): no limit
  AskObstacle ask;
  WaitStyle style{};
};

// Returns the wait for a lock.
[[nodiscard]] Wait wait_for_lock(Session& session, const std::string& name, base::Duration at_most,
                                 const WaitStyle& style = {});

// Tells people what they wait for: on a terminal as a line that is replaced every second, elsewhere
// as lines that stay, see WaitNews.
class WaitLine {
 public:
  WaitLine(Session& session, Wait wait);
  ~WaitLine() { session_.console().erase(); }
  WaitLine(const WaitLine&) = delete;
  WaitLine& operator=(const WaitLine&) = delete;

  // To be called every second. Asks the store.
  void tick();
  // Tells the service manager that this process is alive. To be called at least every
  // `alive_every`.
  void alive() { session_.service().alive(); }
  [[nodiscard]] base::Duration alive_every() const { return session_.service().interval(); }
  void erase() { session_.console().erase(); }
  [[nodiscard]] base::Duration waited() const;
  // Returns what kept the caller waiting at the last look; empty before the first.
  [[nodiscard]] const std::string& last_obstacle() const noexcept { return last_obstacle_; }

 private:
  void print(base::Duration waited, const base::Result<Obstacle>& obstacle,
             const std::string& text);

  Session& session_;
  const Wait wait_;
  const base::TimePoint started_;
  WaitNews news_;
  std::string last_obstacle_;
  int failures_ = 0;  // looks in a row that failed
};

// Returns the text of one line: waiting 12s for deploy · held by … · gives up in 48s
[[nodiscard]] std::string waiting_text(base::Duration waited, const Wait& wait,
                                       const std::string& obstacle);

}  // namespace holdfast::cli
