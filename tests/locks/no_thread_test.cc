#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>
#include <tests/support/no_room_for_threads.h>

#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::locks {
namespace {

// In a process of its own: in this one there may be stacks of threads that have ended.
TEST(NoThreadDeathTest, ALeaseThatNobodyCanRenewIsReleased) {
  if (!tests::NoRoomForThreads::kWorks) GTEST_SKIP() << "a sanitizer needs the address space";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto acquire = [] {
    const auto store = std::make_shared<engines::memory::MemoryStore>();
    LockProvider provider(store);
    base::Result<std::optional<Lock>> outcome = std::nullopt;
    {
      const tests::NoRoomForThreads no_room;
      outcome = provider.try_acquire("job");
    }
    const bool is_refused = !outcome && outcome.error().code == base::ErrorCode::limit_exceeded;
    const bool is_free = !base::value_or_throw(store->look("job"));
    std::exit(is_refused && is_free && provider.try_acquire("job") ? 0 : 1);
  };
  EXPECT_EXIT(acquire(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace holdfast::locks
