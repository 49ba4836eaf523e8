// The example program of assert_held, on a database of its own.

#ifdef HOLDFAST_ASSERTED_TRANSFER

#include <sys/wait.h>

#include <tests/postgresql/postgres_test.h>
#include <tests/support/spawn.h>

namespace holdfast::tests {
namespace {

using AssertedTransfer = PostgresTest;

TEST_F(AssertedTransfer, AWorkerThatWasStoppedPastItsTtlIsRefused) {
  client_.change("CREATE DATABASE example");
  const pid_t process = spawn({HOLDFAST_ASSERTED_TRANSFER, server().url("example")});
  int status = 0;
  ASSERT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace holdfast::tests

#endif
