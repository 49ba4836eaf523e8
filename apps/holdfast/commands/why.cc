#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/locks/deadlock.h>
#include <holdfast/locks/waiters.h>
#include <holdfast/store/hit.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/cli/kind.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

using base::Result;

constexpr Help kHelp{
    .command = "holdfast why",
    .usage = "[OPTIONS] NAME",
    .about =
        "Say why a command for NAME waits or is skipped: who holds the name, since when and for\n"
        "how long; which callers wait for it; the deadlock that its holder is part of, or waits\n"
        "for; that 'once' has run in this period; how many have passed the throttle; that the key\n"
        "is marked. It is no error if nothing is in the way.\n",
    .examples =
        "  holdfast why deploy\n"
        "  holdfast why --json nightly | jq .once"};

// The reasons for which a command waits or is skipped.
struct Obstacles {
  std::optional<store::NameState> lock{};
  std::vector<locks::Waiter> waiters{};
  std::vector<locks::Waiter> deadlock{};  // each waits for a name that the next one holds
  std::optional<store::NameState> once{};
  std::optional<store::NameState> mark{};
  std::optional<store::HitOutcome> throttle{};  // if calls were counted in this window
};

// Returns what a throttle has counted. A look says nothing of the limit, which its callers know.
Result<std::optional<store::HitOutcome>> counted(store::LeaseStore& store,
                                                 const std::string& name) {
  store::Hit look{.limit = store::Permits::kAll, .period = store::LeaseStore::kMinTtl, .count = 0};
  auto outcome = store.hit(name, look, answer_deadline());
  if (!outcome && outcome.error().code == base::ErrorCode::conflict) {
    look.window = store::Window::sliding;
    outcome = store.hit(name, look, answer_deadline());
  }
  if (!outcome && outcome.error().code == base::ErrorCode::conflict) {
    return std::nullopt;  // a lock of that name
  }
  HOLDFAST_TRY(outcome);
  return outcome->hits > 0 ? std::optional(*outcome) : std::nullopt;
}

Result<Obstacles> obstacles_of(store::LeaseStore& store, const std::string& name) {
  Obstacles found;
  HOLDFAST_TRY_LET(found.lock, store.look(name, answer_deadline()));
  HOLDFAST_TRY_LET(found.waiters, locks::waiters_for(store, name, answer_deadline()));
  if (found.lock) {
    HOLDFAST_TRY_LET(found.deadlock, locks::find_deadlock(store, name, answer_deadline()));
  }
  HOLDFAST_TRY_LET(found.once, store.look(once_name(name), answer_deadline()));
  HOLDFAST_TRY_LET(found.mark, store.look(mark_name(name), answer_deadline()));
  HOLDFAST_TRY_LET(found.throttle, counted(store, throttle_name(name)));
  return found;
}

void print_holders(const std::string& name, const store::NameState& state) {
  for (const store::Holder& holder : state.holders) {
    print_output("{} is held by {} ({}), lease {} left{}\n", name, holder_text(holder),
                 permits_text(holder.permits, state.capacity), rough(holder.time_left),
                 holder.foreign ? ": by a program that is not Holdfast" : "");
  }
}

// Returns the name that this waiter of a deadlock holds: the one that the waiter before it waits
// for.
const std::string& held_in(const std::vector<locks::Waiter>& deadlock, std::size_t i) {
  return deadlock[(i + deadlock.size() - 1) % deadlock.size()].name;
}

void print_deadlock(const std::vector<locks::Waiter>& deadlock) {
  if (deadlock.empty()) {
    return;
  }
  print_output("deadlock of {}: end one of them, or one of their leases with 'holdfast steal'\n",
               deadlock.size());
  for (std::size_t i = 0; i < deadlock.size(); ++i) {
    print_output("  {} holds {} and has waited {} for {}\n", owner_text(deadlock[i].owner),
                 base::printable(held_in(deadlock, i)), rough(deadlock[i].waited),
                 base::printable(deadlock[i].name));
  }
}

void print_text(const std::string& name, const Obstacles& found) {
  const std::string shown = base::printable(name);
  if (found.lock) {
    print_holders(shown, *found.lock);
  }
  for (const locks::Waiter& waiter : found.waiters) {
    print_output("waiting: {}\n", waiter_text(waiter));
  }
  print_deadlock(found.deadlock);
  if (found.once) {
    const store::Holder& run = found.once->holders.front();
    print_output("once: {} by {}, at most {} until the next run\n", base::printable(run.reason),
                 owner_text(run.owner), rough(run.time_left));
  }
  if (found.throttle) {
    print_output("throttle: {} passed in this window, which ends in {}\n", found.throttle->hits,
                 rough(found.throttle->resets_in));
  }
  if (found.mark) {
    const store::Holder& mark = found.mark->holders.front();
    print_output("mark: set by {} {} ago, {} left\n", owner_text(mark.owner), rough(mark.held_for),
                 rough(mark.time_left));
  }
  if (!found.lock && found.waiters.empty() && !found.once && !found.throttle && !found.mark) {
    print_output("{} is free\n", shown);
  }
}

Json first_holder(const std::optional<store::NameState>& state) {
  return state ? to_json(state->holders.front()) : Json();
}

Json throttle_json(const std::optional<store::HitOutcome>& counted) {
  return counted ? Json{{"hits", counted->hits}, {"resets_in_ms", to_ms(counted->resets_in)}}
                 : Json();
}

Json deadlock_json(const std::vector<locks::Waiter>& deadlock) {
  Json all = Json::array();
  for (std::size_t i = 0; i < deadlock.size(); ++i) {
    Json one = to_json(deadlock[i]);
    one.update({{"holds", held_in(deadlock, i)}});
    all.push_back(one);
  }
  return all;
}

}  // namespace

int why(const Invocation& call) {
  GlobalOptions global = call.global;
  std::string name;
  CommandLine line(kHelp);
  line.positional("NAME", "The name, as 'run', 'once', 'throttle' or 'mark' got it", into(name),
                  Presence::required);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  Session session(global);
  if (const auto opened = session.open(); !opened) {
    return session.report(opened.error());
  }
  const auto found = obstacles_of(*session.store(), name);
  if (!found) {
    return session.report(name, found.error());
  }
  if (session.json()) {
    Json all = to_json(name, found->lock);
    all.update({{"waiters", to_json(found->waiters)},
                {"deadlock", deadlock_json(found->deadlock)},
                {"once", first_holder(found->once)},
                {"throttle", throttle_json(found->throttle)},
                {"mark", first_holder(found->mark)}});
    print_line(all);
  } else {
    print_text(name, *found);
  }
  return kSuccess;
}

}  // namespace holdfast::cli::commands
