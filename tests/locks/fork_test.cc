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
#include <holdfast/testing/faulty_store.h>

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;

using testing::FaultyStore;
using testing::Operation;

// Runs `work` in a forked child. Returns whether it returned true there, and in time.
template <class Work>
bool is_true_in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(work() ? 0 : 1);
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

TEST(ForkedChild, TheDestructorsOfAProviderAndItsLocksAskNothingOfTheStore) {
  const auto store =
      std::make_shared<FaultyStore>(std::make_shared<engines::memory::MemoryStore>());
  auto provider = std::make_unique<LockProvider>(store);
  // Kept alive: both threads of the keeper run in the parent.
  std::optional<Lock> lock = provider->acquire("report");
  std::optional<Lock> kept = provider->acquire("kept", {.on_destroy = OnDestroy::keep});
  EXPECT_TRUE(is_true_in_child([&] {
    lock.reset();
    kept.reset();
    provider.reset();
    return store->calls(Operation::release) == 0;
  }));
  EXPECT_TRUE(lock->check()) << "the child must not release what its parent holds";
  EXPECT_TRUE(*provider->is_locked("report"));
}

TEST(ForkedChild, ALockThatOutlivesItsProviderFiresNoLossThere) {
  const auto store = std::make_shared<engines::memory::MemoryStore>();
  auto provider = std::make_unique<LockProvider>(store);
  std::optional<Lock> lock = provider->acquire("report");
  EXPECT_TRUE(is_true_in_child([&] {
    provider.reset();  // would end the renewal, and with it the lock
    const bool is_untouched = !lock->lost().stop_requested();
    lock.reset();
    return is_untouched;
  }));
  EXPECT_TRUE(lock->check());
}

}  // namespace
}  // namespace holdfast::locks
