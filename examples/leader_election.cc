// Three candidates, of which one at a time leads; each term has a greater token than the one
// before.
#include <holdfast/recipes/leader_election.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/engines/open_store.h>

using holdfast::recipes::LeaderElection;
using holdfast::recipes::Term;

int main() {
  holdfast::locks::LockProvider provider(
      holdfast::base::value_or_throw(holdfast::engines::open_store("memory:")));
  std::stop_source stop;
  std::mutex mutex;
  std::vector<std::uint64_t> tokens;  // protected by mutex
  const auto work = [&](const Term& term) {
    // Real work would run until term.over fires, and pass term.token to the resources it changes.
    const std::lock_guard guard(mutex);
    tokens.push_back(term.token.value());
    if (tokens.size() == 20) stop.request_stop();
  };
  {
    std::vector<std::jthread> candidates;
    for (const std::string name : {"anna", "bert", "cleo"}) {
      candidates.emplace_back([&, name] {
        LeaderElection election(provider, "scheduler");
        if (const auto led = election.lead(work, {.stop = stop.get_token(), .owner = name}); !led) {
          std::cerr << led.error().message << '\n';
        }
      });
    }
  }
  const bool grows = std::ranges::adjacent_find(tokens, std::greater_equal()) == tokens.end();
  const bool resigned = !LeaderElection(provider, "scheduler").leader().value().has_value();
  std::cout << tokens.size() << " terms, their tokens " << (grows ? "grew" : "did not grow")
            << '\n';
  return tokens.size() >= 20 && grows && resigned ? EXIT_SUCCESS : EXIT_FAILURE;
}
