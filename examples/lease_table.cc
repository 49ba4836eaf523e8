// Locks that expire: in a table in memory, and, through one interface, in any store.
#include <holdfast/local/lease_table.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include <holdfast/base/lease_provider.h>
#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/local/table_lease_provider.h>
#include <holdfast/store/store_lease_provider.h>

using namespace std::chrono_literals;
using holdfast::base::LeaseProvider;
using holdfast::local::LeaseTable;
using holdfast::local::SweepReport;

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) {
    std::cerr << "does not hold: " << what << '\n';
    std::exit(EXIT_FAILURE);
  }
}

// Knows nothing of where the leases are stored.
bool process_invoice(LeaseProvider& locks, const std::string& worker) {
  const auto token = locks.try_lock("invoice:42", worker, 30s);
  if (!token || !*token) {
    return false;  // an error, or another worker has it
  }
  // … the work; pass **token to the resource, so that it can reject a stale worker
  return locks.unlock("invoice:42", **token).has_value();  // this very lease, and no later one
}

void a_forgotten_lock_expires() {
  holdfast::base::ManualClock clock;  // a program uses the default, the steady clock
  std::size_t swept = 0;
  LeaseTable table({.clock = &clock, .sweep_every = 0s, .on_sweep = [&](const SweepReport& report) {
                      swept += report.removed;
                    }});

  const auto first = table.try_lock("invoice:42", "worker-7", 30s);
  require(first && *first, "a free key is granted");
  const auto refused = table.try_lock("invoice:42", "worker-8", 30s);
  require(refused && !*refused, "a leased key is refused: contention is a value");
  for (const auto& lease : table.snapshot()) {
    std::cout << lease << '\n';
  }

  clock.advance(30s);  // worker-7 crashed, and never unlocks
  const auto second = table.try_lock("invoice:42", "worker-8", 30s);
  require(second && *second && **second > **first, "an expired key is granted, with a newer token");
  require(!table.unlock("invoice:42", **first), "the stale worker does not unlock its successor");

  clock.advance(30s);
  table.sweep_now();  // in a program a background thread does that, once a minute
  require(table.size() == 0 && swept == 1, "expired leases are swept, and the hook counts them");
}

}  // namespace

int main() {
  a_forgotten_lock_expires();

  LeaseTable table;
  holdfast::local::TableLeaseProvider in_this_process(table);
  holdfast::engines::memory::MemoryStore store;  // or any other, by URL: sqlite:, redis:, mongodb:
  holdfast::store::StoreLeaseProvider in_a_store(store);
  require(process_invoice(in_this_process, "worker-7"), "the work is done over a table");
  require(process_invoice(in_a_store, "worker-7"), "the same code runs over a store");
  return EXIT_SUCCESS;
}
