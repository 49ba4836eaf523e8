// A holder is stopped until its lease has expired, and its successor writes. When the first holder
// resumes, its write is rejected: a fence prevents what a lock alone cannot.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include <holdfast/engines/open_store.h>
#include <holdfast/fence/file_guard.h>
#include <holdfast/locks/lock_provider.h>

using namespace std::chrono_literals;
using holdfast::base::ErrorCode;
using holdfast::base::value_or_throw;
using holdfast::fence::FileGuard;
using holdfast::locks::LockProvider;

namespace {

struct Place {
  std::string store;
  std::filesystem::path report;
};

[[noreturn]] void fail(const std::string& what) {
  std::cerr << what << '\n';
  std::_Exit(EXIT_FAILURE);
}

void expect(bool holds, const std::string& what) {
  if (!holds) fail("expected, but not true: " + what);
}

// Acquires the lock, is stopped before it writes, and does not check the lock again: like a process
// that the scheduler, a debugger or a suspended machine stops at the wrong moment.
[[noreturn]] void first_holder(const Place& place) {
  LockProvider provider(value_or_throw(holdfast::engines::open_store(place.store)));
  const auto guard = value_or_throw(FileGuard::open(place.report));
  const auto lock = provider.acquire("report", {.ttl = 1s});
  std::cout << "first:  holds the lock with token " << to_string(lock.token()) << '\n'
            << std::flush;

  ::raise(SIGSTOP);  // stops all its threads, so the lease is not renewed

  const auto written = guard.write(lock.token(), "by the first");
  expect(!written && written.error().code == ErrorCode::lost,
         "the first holder's write is rejected");
  expect(!lock.check(), "check() reports that the lock is lost");
  std::cout << "first:  " << written.error().message << '\n' << std::flush;
  std::_Exit(EXIT_SUCCESS);
}

void successor(const Place& place) {
  LockProvider provider(value_or_throw(holdfast::engines::open_store(place.store)));
  const auto guard = value_or_throw(FileGuard::open(place.report));
  const auto lock = provider.acquire("report", {.wait = 60s});  // until the lease expires
  std::cout << "second: holds the lock with token " << to_string(lock.token()) << ", writes" << '\n'
            << std::flush;
  value_or_throw(guard.write(lock.token(), "by the second"));
}

void play(const Place& place) {
  const pid_t first = ::fork();  // before there are threads
  if (first == 0) {
    try {
      first_holder(place);
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }
  int status = 0;
  ::waitpid(first, &status, WUNTRACED);
  expect(WIFSTOPPED(status), "the first holder is stopped while it holds the lock");

  successor(place);

  ::kill(first, SIGCONT);
  ::waitpid(first, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS, "the first holder was rejected");
  std::ifstream report(place.report);
  const std::string text{std::istreambuf_iterator<char>(report), {}};
  expect(text == "by the second", "the report is the one the successor wrote");
  std::cout << "the report was written " << text << '\n';
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "holdfast-fence-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) fail("no temporary folder could be made");
  play({.store = "sqlite:" + folder + "/locks.db", .report = folder + "/report.txt"});
  std::filesystem::remove_all(folder);
}
