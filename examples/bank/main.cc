// A small bank is killed repeatedly in the middle of its transfers, and audited each time: no money
// was created or lost, and every transfer that was confirmed is stored.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "examples/bank/bank.h"

namespace {

using bank::Bank;
using holdfast::base::ErrorCode;

constexpr int kKills = 5;
constexpr int kTellers = 3;
constexpr long kOpening = 1000;
const std::array<std::string, 5> kAccounts{"anna", "bert", "cleo", "dora", "emil"};

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::cerr << "expected, but not true: " << what << '\n';
  std::_Exit(EXIT_FAILURE);
}

// Makes random transfers for ever, and writes one byte to `answers` for each.
void tell(Bank& bank, unsigned seed, int answers) {
  std::mt19937 random(seed);
  for (;;) {
    const std::string& from = kAccounts[random() % kAccounts.size()];
    const std::string& to = kAccounts[random() % kAccounts.size()];
    if (from == to) continue;
    const auto done = bank.transfer(from, to, static_cast<long>(random() % 300));
    if (done) {
      expect(::write(answers, "x", 1) == 1, "the confirmation is written");
    } else {
      expect(done.error().code == ErrorCode::conflict, to_string(done.error()));
    }
  }
}

[[noreturn]] void open_for_business(const std::filesystem::path& file, unsigned seed, int answers) {
  Bank bank(file);
  std::vector<std::jthread> tellers;
  for (unsigned i = 0; i < kTellers; ++i) {
    tellers.emplace_back([&, i] { tell(bank, seed * kTellers + i, answers); });
  }
  tellers.clear();  // they never end by themselves
  std::_Exit(EXIT_SUCCESS);
}

// Opens the bank in another process and kills that process after this many transfers. Returns how
// many it confirmed.
long work_until_killed(const std::filesystem::path& file, unsigned seed, long transfers) {
  std::array<int, 2> pipe{};
  expect(::pipe(pipe.data()) == 0, "a pipe can be opened");
  const pid_t child = ::fork();  // while there are no threads here
  if (child == 0) {
    ::close(pipe[0]);
    try {
      open_for_business(file, seed, pipe[1]);
    } catch (const std::exception& error) {
      expect(false, error.what());
    }
  }
  ::close(pipe[1]);
  long answered = 0;
  char byte = 0;
  while (answered < transfers && ::read(pipe[0], &byte, 1) == 1) ++answered;
  ::kill(child, SIGKILL);
  while (::read(pipe[0], &byte, 1) == 1) ++answered;  // confirmed before the kill
  int status = 0;
  ::waitpid(child, &status, 0);
  expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the bank was killed while it worked");
  ::close(pipe[0]);
  return answered;
}

// Checks the stored state, through a newly opened bank.
void audit(const std::filesystem::path& file, long answered) {
  Bank bank(file);
  long money = 0;
  long sent = 0;
  for (const std::string& account : kAccounts) {
    expect(bank.balance(account) >= 0, account + " is not overdrawn");
    money += bank.balance(account);
    sent += bank.sent(account);
  }
  const long opened_with = kOpening * static_cast<long>(kAccounts.size());
  std::cout << "killed after " << answered << " confirmed transfers: " << sent
            << " are stored, and " << money << " of " << opened_with << " is there" << '\n'
            << std::flush;
  expect(money == opened_with, "no money was created or lost");
  // For each teller and kill, one transfer may be stored whose confirmation was never read.
  expect(sent >= answered, "every confirmed transfer is stored");
  expect(sent <= answered + static_cast<long>(kTellers) * kKills, "no other transfer is stored");
}

void play(const std::filesystem::path& file) {
  {
    Bank bank(file);
    for (const std::string& account : kAccounts) bank.pay_in(account, kOpening);
  }
  long answered = 0;
  std::mt19937 random(std::random_device{}());
  for (unsigned kill = 0; kill < kKills; ++kill) {
    answered += work_until_killed(file, static_cast<unsigned>(random()),
                                  20 + static_cast<long>(random() % 100));
    audit(file, answered);
  }
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "holdfast-bank-XXXXXX").string();
  expect(::mkdtemp(folder.data()) != nullptr, "there is a temporary folder");
  play(std::filesystem::path(folder) / "bank.db");
  std::filesystem::remove_all(folder);
}
