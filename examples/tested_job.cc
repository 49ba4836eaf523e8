// Tests of code that uses locks: without a server, without waiting, with every failure on demand.
// docs/testing.md explains it.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string_view>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/holdfast.h>
#include <holdfast/testing/faulty_store.h>

using namespace std::chrono_literals;
using holdfast::engines::memory::MemoryStore;
using holdfast::testing::FaultyStore;
using holdfast::testing::Operation;

// The code under test: it takes the provider as a parameter, so that a test can give it another.
class Importer {
 public:
  explicit Importer(holdfast::LockProvider& locks) : locks_(locks) {}

  enum class Outcome { imported, skipped, interrupted, failed };

  template <class Step>
  Outcome run(int steps, Step step) {
    auto lock = locks_.try_acquire("import");
    if (!lock) return Outcome::failed;
    if (!*lock) return Outcome::skipped;
    for (int i = 0; i < steps; ++i) {
      if (!(*lock)->check()) return Outcome::interrupted;
      step(i);
    }
    return Outcome::imported;
  }

 private:
  holdfast::LockProvider& locks_;
};

// The store and the provider, on a clock that only the test moves.
struct Fixture {
  holdfast::base::ManualClock clock;
  std::shared_ptr<FaultyStore> store = std::make_shared<FaultyStore>(std::make_shared<MemoryStore>(
      holdfast::engines::memory::MemoryOptions{.clock = &clock, .sweep_every = 0s}));
  holdfast::LockProvider locks{store, {.clock = &clock}};
  Importer importer{locks};
};

bool skips_while_another_process_imports() {
  Fixture test;
  holdfast::LockProvider other(test.store, {.clock = &test.clock});
  const auto held = other.acquire("import");
  return test.importer.run(3, [](int) {}) == Importer::Outcome::skipped;
}

bool stops_when_its_lease_has_ended() {
  Fixture test;
  test.store->refuse(Operation::renew, 100);  // the store cannot be reached any more
  int steps = 0;
  const auto outcome = test.importer.run(3, [&](int) {
    ++steps;
    test.clock.advance(1min);  // longer than the ttl
  });
  return outcome == Importer::Outcome::interrupted && steps == 1;
}

bool reports_a_store_that_fails() {
  Fixture test;
  test.store->go_away();
  return test.importer.run(3, [](int) {}) == Importer::Outcome::failed;
}

bool a_lost_reply_leaves_nothing_behind() {
  Fixture test;
  test.store->lose_reply(Operation::claim);  // granted, but the reply is lost
  const auto outcome = test.importer.run(3, [](int) {});
  return outcome == Importer::Outcome::failed && !test.locks.is_locked("import").value();
}

bool expect(bool holds, std::string_view sentence) {
  std::cout << (holds ? "ok      " : "FAILED  ") << sentence << '\n';
  return holds;
}

int main() {
  const bool good =
      expect(skips_while_another_process_imports(), "skips while another process imports") &
      expect(stops_when_its_lease_has_ended(), "stops when its lease has ended") &
      expect(reports_a_store_that_fails(), "reports a store that fails") &
      expect(a_lost_reply_leaves_nothing_behind(), "a lost reply leaves nothing behind");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
