// Two accounts are locked together, in whichever direction the money goes.
#include <holdfast/recipes/multi_lock.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/engines/open_store.h>

using namespace std::chrono_literals;
using holdfast::recipes::acquire_all;

int main() {
  holdfast::locks::LockProvider provider(
      holdfast::base::value_or_throw(holdfast::engines::open_store("memory:")));
  std::map<std::string, long> accounts{{"anna", 1'000}, {"bert", 1'000}, {"cleo", 1'000}};
  const auto pay = [&](const std::string& from, const std::string& to) {
    const auto both = acquire_all(provider, {from, to}, {.wait = 1min});
    accounts.at(from) -= 1;
    accounts.at(to) += 1;
  };
  {
    std::vector<std::jthread> threads;
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"anna", "bert"}, {"bert", "anna"}, {"bert", "cleo"}, {"cleo", "anna"}}) {
      threads.emplace_back([&pay, from, to] {
        for (int i = 0; i < 200; ++i) pay(from, to);
      });
    }
  }
  long sum = 0;
  for (const auto& [name, amount] : accounts) {
    std::cout << name << " has " << amount << '\n';
    sum += amount;
  }
  return sum == 3'000 && accounts.at("bert") == 800 && accounts.at("anna") == 1'200 ? EXIT_SUCCESS
                                                                                    : EXIT_FAILURE;
}
