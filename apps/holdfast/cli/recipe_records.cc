#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/store/hit.h>

#include "apps/holdfast/cli/kind.h"
#include "apps/holdfast/cli/recipe_records.h"
#include "apps/holdfast/cli/session.h"
#include "apps/holdfast/cli/text.h"

namespace holdfast::cli {

namespace {

using base::ErrorCode;
using base::Result;

Json first_holder(const std::optional<store::NameState>& state) {
  return state ? to_json(state->holders.front()) : Json();
}

Json hits_json(const std::optional<store::HitOutcome>& hits) {
  return hits ? Json{{"hits", hits->hits}, {"resets_in_ms", to_ms(hits->resets_in)}} : Json();
}

}  // namespace

Result<std::optional<store::HitOutcome>> find_hits(store::LeaseStore& store,
                                                   std::string_view name) {
  store::Hit look{.limit = store::Permits::kAll, .period = store::LeaseStore::kMinTtl, .count = 0};
  auto outcome = store.hit(name, look, answer_deadline());
  if (!outcome && outcome.error().code == ErrorCode::conflict) {
    look.window = store::Window::sliding;
    outcome = store.hit(name, look, answer_deadline());
  }
  if (!outcome && outcome.error().code == ErrorCode::conflict) {
    return std::nullopt;  // a lock of that name
  }
  HOLDFAST_TRY(outcome);
  return outcome->hits > 0 ? std::optional(*outcome) : std::nullopt;
}

Result<RecipeRecords> find_recipe_records(store::LeaseStore& store, std::string_view key) {
  RecipeRecords found;
  HOLDFAST_TRY_LET(found.once, store.look(once_name(key), answer_deadline()));
  HOLDFAST_TRY_LET(found.mark, store.look(mark_name(key), answer_deadline()));
  HOLDFAST_TRY_LET(found.throttle, find_hits(store, throttle_name(key)));
  return found;
}

std::vector<std::pair<std::string_view, std::string>> lines_of(const RecipeRecords& records) {
  std::vector<std::pair<std::string_view, std::string>> lines;
  if (records.once) {
    const store::Holder& run = records.once->holders.front();
    lines.emplace_back(
        "once", fmt::format("{} by {}, at most {} until the next run", base::printable(run.reason),
                            owner_text(run.owner), rough(run.time_left)));
  }
  if (records.throttle) {
    lines.emplace_back("throttle",
                       fmt::format("{} passed in this window, which ends in {}",
                                   records.throttle->hits, rough(records.throttle->resets_in)));
  }
  if (records.mark) {
    const store::Holder& mark = records.mark->holders.front();
    lines.emplace_back("mark", fmt::format("set by {} {} ago, {} left", owner_text(mark.owner),
                                           rough(mark.held_for), rough(mark.time_left)));
  }
  return lines;
}

Json to_json(const RecipeRecords& records) {
  return {{"once", first_holder(records.once)},
          {"throttle", hits_json(records.throttle)},
          {"mark", first_holder(records.mark)}};
}

}  // namespace holdfast::cli
