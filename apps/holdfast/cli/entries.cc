#include <utility>

#include <holdfast/base/try.h>

#include "apps/holdfast/cli/entries.h"
#include "apps/holdfast/cli/list_names.h"
#include "apps/holdfast/cli/session.h"

namespace holdfast::cli {

base::Result<Entries> find_entries(store::LeaseStore& store, std::string_view prefix) {
  HOLDFAST_TRY_LET(auto names, list_names(store, prefix));
  HOLDFAST_TRY_LET(auto waiters, locks::list_waiters(store, prefix, answer_deadline()));
  Entries entries;
  for (store::NameState& state : names) {
    std::string name(state.name.view());
    entries[std::move(name)].state = std::move(state);
  }
  for (locks::Waiter& waiter : waiters) {
    std::vector<locks::Waiter>& all = entries[waiter.name].waiters;
    all.push_back(std::move(waiter));
  }
  return entries;
}

Json to_json(std::string_view name, const Entry& entry) {
  Json shown = to_json(name, entry.state);
  shown.update({{"waiters", to_json(entry.waiters)}});
  return shown;
}

}  // namespace holdfast::cli
