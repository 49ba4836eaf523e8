// A forked child does nothing with the host of its parent.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <tests/objects/ledger.h>
#include <tests/support/patience.h>
#include <tests/support/temporary_folder.h>

namespace holdfast::tests {
namespace {

using base::value_or_throw;

TEST(ForkedProcess, TheDestructorOfAHostReturnsAtOnceAndSavesNothing) {
  const TemporaryFolder folder;
  auto host = std::make_unique<LedgerHost>(folder / "objects.db", "parent",
                                           objects::SaveWhen::periodically);
  value_or_throw((*host)->call<&Ledger::enter>("anna", "of the parent"));

  const pid_t child = ::fork();
  if (child == 0) {
    Ledger::after_to_data = [] { ::_exit(2); };
    host.reset();
    ::_exit(0);
  }
  int status = -1;
  const bool has_ended = eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; });
  if (!has_ended) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
  }
  EXPECT_TRUE(has_ended) << "the destructor waits for a thread that the child does not have";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;

  // The parent still owns its object, and saves it.
  EXPECT_EQ((*host)->save<Ledger>("anna"), objects::SaveStatus::saved);
  EXPECT_EQ((*host)->call<&Ledger::entries>("anna"), std::set<std::string>{"of the parent"});
}

}  // namespace
}  // namespace holdfast::tests
