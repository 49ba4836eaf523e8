// A small bank is killed in the middle of its transfers, again and again, and audited each time: no
// money came or went, and every transfer that was answered is there.

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
  std::cerr << "not so: " << what << '\n';
  std::_Exit(EXIT_FAILURE);
}

// Transfers at random for ever; a byte for each one that is done.
void tell(Bank& bank, unsigned seed, int answers) {
  std::mt19937 random(seed);
  for (;;) {
    const std::string& from = kAccounts[random() % kAccounts.size()];
    const std::string& to = kAccounts[random() % kAccounts.size()];
    if (from == to) continue;
    const auto done = bank.transfer(from, to, static_cast<long>(random() % 300));
    if (done) {
      expect(::write(answers, "x", 1) == 1, "the answer is heard");
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

// Opens the bank in a process of its own and kills that after so many transfers; how many it
// answered.
long work_until_killed(const std::filesystem::path& file, unsigned seed, long transfers) {
  std::array<int, 2> pipe{};
  expect(::pipe(pipe.data()) == 0, "there is a pipe");
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
  while (::read(pipe[0], &byte, 1) == 1) ++answered;  // those it had time for
  int status = 0;
  ::waitpid(child, &status, 0);
  expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the bank was killed at its work");
  ::close(pipe[0]);
  return answered;
}

// What is stored, in a bank that has just been opened.
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
  std::cout << "killed after " << answered << " answered transfers: " << sent << " are stored, and "
            << money << " of " << opened_with << " is there" << '\n'
            << std::flush;
  expect(money == opened_with, "no money came or went");
  // One of each teller may have been stored whose answer was never heard.
  expect(sent >= answered, "every answered transfer is stored");
  expect(sent <= answered + static_cast<long>(kTellers) * kKills, "nothing else is");
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
