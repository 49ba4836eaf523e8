#include <utility>

#include <fmt/core.h>

#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/waiting/wait_line.h"

namespace holdfast::cli {

namespace {

std::vector<std::uint64_t> tokens_of(const std::optional<store::NameState>& state) {
  std::vector<std::uint64_t> tokens;
  if (state) {
    for (const store::Holder& holder : state->holders) {
      tokens.push_back(holder.token.value());
    }
  }
  return tokens;
}

}  // namespace

std::string waiting_text(base::Duration waited, const std::optional<store::NameState>& state) {
  std::string text = "waiting " + rough(waited);
  if (!state || state->holders.empty()) {
    return text;
  }
  const store::Holder& first = state->holders.front();
  text += " · held by " + holder_text(first);
  if (const std::size_t others = state->holders.size() - 1; others > 0) {
    text += fmt::format(" and {} more", others);
  }
  return text + " · lease " + rough(first.time_left) + " left";
}

WaitLine::WaitLine(Session& session, std::string name)
    : session_(session), name_(std::move(name)), started_(base::boot_clock().now()) {}

base::Duration WaitLine::waited() const { return base::boot_clock().now() - started_; }

void WaitLine::tick() {
  Console& console = session_.console();
  if (!console.is_terminal() && !session_.verbose()) {
    return;
  }
  // A store that is too busy to say shows no holder; the next second is another chance.
  const auto patience = base::Deadline::after(base::steady_clock(), std::chrono::milliseconds(500));
  const auto looked = session_.store()->look(name_, patience);
  const auto state = looked ? *looked : std::nullopt;
  const std::string text = waiting_text(waited(), state);
  if (console.is_terminal()) {
    console.show(text);
  } else if (auto tokens = tokens_of(state); tokens != told_ || tokens.empty()) {
    told_ = std::move(tokens);
    console.print("holdfast: " + text);
  }
}

}  // namespace holdfast::cli
