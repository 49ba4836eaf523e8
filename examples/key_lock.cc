#include <holdfast/local/key_lock.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

class Bank {
 public:
  void deposit(std::string_view id, long amount) {
    auto guard = locks_.lock(id);  // waits only for work on the same account
    accounts_.at(std::string{id}) += amount;
  }

  long balance(std::string_view id) {
    auto guard = locks_.lock_shared(id);  // readers share the key
    return accounts_.at(std::string{id});
  }

  void transfer(std::string_view from, std::string_view to, long amount) {
    if (from == to) return;  // a key's lock is not re-entrant
    auto source = locks_.mutex(from);
    auto target = locks_.mutex(to);
    std::scoped_lock both{source, target};  // two keys, no deadlock
    accounts_.at(std::string{from}) -= amount;
    accounts_.at(std::string{to}) += amount;
  }

 private:
  holdfast::local::KeyLock locks_;  // a key's lock exists only while it is in use
  std::map<std::string, long> accounts_{{"anna", 0}, {"bert", 0}};
};

int main() {
  constexpr long kRounds = 1'000;
  Bank bank;
  {
    // Two threads pay in, two transfer in opposite directions: without the locks, money gets lost.
    std::vector<std::jthread> threads;
    for (const char* id : {"anna", "bert"}) {
      threads.emplace_back([&bank, id] {
        for (long i = 0; i < kRounds; ++i) bank.deposit(id, 2);
      });
    }
    threads.emplace_back([&bank] {
      for (long i = 0; i < kRounds; ++i) bank.transfer("anna", "bert", 1);
    });
    threads.emplace_back([&bank] {
      for (long i = 0; i < kRounds; ++i) bank.transfer("bert", "anna", 1);
    });
  }

  const long anna = bank.balance("anna");
  const long bert = bank.balance("bert");
  std::cout << "anna has " << anna << ", bert has " << bert << '\n';
  return anna == 2 * kRounds && bert == 2 * kRounds ? EXIT_SUCCESS : EXIT_FAILURE;
}
