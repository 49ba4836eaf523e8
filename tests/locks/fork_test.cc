// What a forked child does with a provider and the locks of its parent: nothing.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;

// Runs `work` in a forked child. Returns whether it returned there in time.
template <class Work>
bool returns_in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = -1;
  const bool ended = tests::eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; });
  if (!ended) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ForkedChild, TheDestructorsOfAProviderAndItsLocksReturnAtOnce) {
  const auto store = std::make_shared<engines::memory::MemoryStore>();
  auto provider = std::make_unique<LockProvider>(store);
  // Kept alive: both threads of the keeper run in the parent.
  std::optional<Lock> lock = provider->acquire("report");
  std::optional<Lock> kept = provider->acquire("kept", {.on_destroy = OnDestroy::keep});
  EXPECT_TRUE(returns_in_child([&] {
    lock.reset();
    kept.reset();
    provider.reset();
  }));
  EXPECT_TRUE(lock->check()) << "the child must not release what its parent holds";
  EXPECT_TRUE(*provider->is_locked("report"));
}

TEST(ForkedChild, AProviderThatWentBeforeItsLocksReturnsAtOnce) {
  const auto store = std::make_shared<engines::memory::MemoryStore>();
  auto provider = std::make_unique<LockProvider>(store);
  std::optional<Lock> lock = provider->acquire("report");
  EXPECT_TRUE(returns_in_child([&] {
    provider.reset();
    lock.reset();
  }));
  EXPECT_TRUE(lock->check());
}

}  // namespace
}  // namespace holdfast::locks
