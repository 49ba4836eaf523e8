#include <holdfast/locks/steps/run_blocking.h>

#include <stdexcept>

#include <gtest/gtest.h>

#include <holdfast/base/clock.h>
#include <holdfast/engines/memory/memory_store.h>

namespace holdfast::locks::steps {
namespace {

class ThrowsAtTheStart final : public Procedure {
 public:
  [[nodiscard]] Step start() override { throw std::runtime_error("on purpose"); }
  [[nodiscard]] Step on(Answer&& /*answer*/) override { return {}; }
  [[nodiscard]] Step on_exception() override {
    knows_of_it = true;
    return {};
  }

  bool knows_of_it = false;
};

TEST(RunBlocking, AProcedureThatThrowsAtTheStartCleansUpBeforeTheCallerKnows) {
  engines::memory::MemoryStore store;
  ThreadWaker waker;
  ThrowsAtTheStart procedure;
  EXPECT_THROW(run_blocking(procedure, {}, store, base::boot_clock(), waker), std::runtime_error);
  EXPECT_TRUE(procedure.knows_of_it);
}

}  // namespace
}  // namespace holdfast::locks::steps
