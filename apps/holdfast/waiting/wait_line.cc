#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/waiting/wait_line.h"

namespace holdfast::cli {

namespace {

Json gives_up_json(base::Duration waited, const Wait& wait) {
  return wait.at_most == base::Duration::max() ? Json() : Json(to_ms(wait.at_most - waited));
}

}  // namespace

Obstacle held_by(const std::optional<store::NameState>& state) {
  Obstacle obstacle;
  Json holders = Json::array();
  if (state && !state->holders.empty()) {
    for (const store::Holder& holder : state->holders) {
      obstacle.holders.push_back(holder.token.value());
      holders.push_back(to_json(holder));
    }
    const store::Holder& first = state->holders.front();
    obstacle.text = "held by " + holder_text(first);
    if (const std::size_t others = state->holders.size() - 1; others > 0) {
      obstacle.text += fmt::format(" and {} more", others);
    }
    obstacle.text += " · lease " + rough(first.time_left) + " left";
  }
  obstacle.details = Json{{"holders", std::move(holders)}};
  return obstacle;
}

Wait wait_for_lock(Session& session, const std::string& name, base::Duration at_most,
                   const WaitStyle& style) {
  return {.name = name,
          .at_most = at_most,
          .ask = [&session, name](const base::Deadline& deadline) -> base::Result<Obstacle> {
            HOLDFAST_TRY_LET(const auto state, session.store()->look(name, deadline));
            return held_by(state);
          },
          .style = style};
}

std::string waiting_text(base::Duration waited, const Wait& wait, const std::string& obstacle) {
  std::string text = "waiting " + rough(waited) + " for " + base::printable(wait.name);
  if (!obstacle.empty()) {
    text += " · " + obstacle;
  }
  if (wait.at_most != base::Duration::max()) {
    text += " · gives up in " + rough(std::max(wait.at_most - waited, base::Duration::zero()));
  }
  return text;
}

WaitLine::WaitLine(Session& session, Wait wait)
    : session_(session),
      wait_(std::move(wait)),
      started_(base::boot_clock().now()),
      news_(session.verbose() ? Detail::verbose : Detail::usual, wait_.style.reminders) {}

base::Duration WaitLine::waited() const { return base::boot_clock().now() - started_; }

void WaitLine::tick() {
  const auto patience = base::Deadline::after(base::steady_clock(), std::chrono::milliseconds(500));
  const auto obstacle = wait_.ask(patience);
  failures_ = obstacle ? 0 : failures_ + 1;
  // A busy store may miss one look. One that misses two in a row is reported.
  const bool unreachable = failures_ > 1;
  std::string what = obstacle ? obstacle->text : "";
  if (obstacle && !what.empty()) {
    last_obstacle_ = what;
  }
  if (unreachable) {
    what = fmt::format("store unreachable: {}, retrying", obstacle.error().message);
  }
  session_.service().status(
      unreachable ? what : fmt::format("{} {}", wait_.style.status, base::printable(wait_.name)));
  const base::Duration so_far = waited();
  const std::string text = waiting_text(so_far, wait_, what);
  if (session_.console().is_terminal() && wait_.style.reminders != Reminders::never) {
    session_.console().show(text);
  } else if ((obstacle || unreachable) &&
             news_.is_due(so_far, unreachable, obstacle ? obstacle->holders : WaitNews::Tokens())) {
    print(so_far, obstacle, text);
  }
}

void WaitLine::print(base::Duration waited, const base::Result<Obstacle>& obstacle,
                     const std::string& text) {
  if (!session_.json()) {
    session_.say(text);
    return;
  }
  Json line{{"event", "waiting"},
            {"name", wait_.name},
            {"waited_ms", to_ms(waited)},
            {"gives_up_in_ms", gives_up_json(waited, wait_)}};
  line.update(obstacle ? obstacle->details : Json{{"error", to_json(obstacle.error())}});
  session_.console().print(to_line(line));
}

}  // namespace holdfast::cli
