#include <holdfast/base/try.h>
#include <holdfast/locks/deadlock.h>

#include "apps/holdfast/cli/obstacles.h"
#include "apps/holdfast/cli/session.h"

namespace holdfast::cli {

using base::Result;

Result<Obstacles> find_obstacles(store::LeaseStore& store, const std::string& name) {
  Obstacles found;
  HOLDFAST_TRY_LET(found.lock, store.look(name, answer_deadline()));
  HOLDFAST_TRY_LET(found.waiters, locks::waiters_for(store, name, answer_deadline()));
  if (found.lock) {
    HOLDFAST_TRY_LET(found.deadlock, locks::find_deadlock(store, name, answer_deadline()));
  }
  HOLDFAST_TRY_LET(found.recipes, find_recipe_records(store, name));
  return found;
}

const std::string& held_in(const std::vector<locks::Waiter>& deadlock, std::size_t i) {
  return deadlock[(i + deadlock.size() - 1) % deadlock.size()].name;
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

Json to_json(const std::string& name, const Obstacles& found) {
  Json all = to_json(name, found.lock);
  all.update({{"waiters", to_json(found.waiters)}, {"deadlock", deadlock_json(found.deadlock)}});
  all.update(to_json(found.recipes));
  return all;
}

}  // namespace holdfast::cli
