#include <string>
#include <thread>

#include <holdfast/local/lease_table.h>

#include "scene.h"

namespace holdfast::demo {

namespace {

using namespace std::chrono_literals;
using local::LeaseTable;

std::optional<base::FencingToken> try_lock(LeaseTable& table, std::string_view key,
                                           std::string_view owner, base::Ttl ttl) {
  return base::value_or_throw(table.try_lock(key, owner, ttl));
}

}  // namespace

void a_lease_expires() {
  title("4. A lock with a time to live");
  LeaseTable table;
  const auto first = try_lock(table, "invoice:42", "worker-1", 200ms);
  require(first.has_value(), "a free key is granted");
  fmt::print("   worker-1 holds invoice:42 for 200 ms, fencing token {}\n", first->value());
  require(!try_lock(table, "invoice:42", "worker-2", 200ms), "a live lease excludes others");
  fmt::print("   worker-2 tries: refused\n");

  const auto began = std::chrono::steady_clock::now();
  std::optional<base::FencingToken> second;
  while (!(second = try_lock(table, "invoice:42", "worker-2", 200ms))) {
    std::this_thread::sleep_for(5ms);
  }
  fmt::print("   worker-1 never unlocks it; {:.0f} ms later worker-2 holds it, token {}\n",
             milliseconds(std::chrono::steady_clock::now() - began), second->value());
  require(*second > *first, "tokens grow");
  const auto late = table.unlock("invoice:42", "worker-1");
  require(!late && table.is_locked_by("invoice:42", "worker-2"),
          "an owner cannot free another owner's lease");
  fmt::print("   worker-1 unlocks too late: {}\n", base::to_string(late.error()));
}

void expired_leases_are_swept() {
  title("5. Expired leases are swept");
  constexpr int kLeases = 200'000;
  LeaseTable table({.sweep_every = 0s});
  for (int i = 0; i < kLeases; ++i) {
    require(try_lock(table, "upload:" + std::to_string(i), "client", 1ms).has_value(), "granted");
  }
  std::this_thread::sleep_for(5ms);
  fmt::print("   {} expired leases of crashed clients in the table\n", table.size());
  const auto began = std::chrono::steady_clock::now();
  const local::SweepReport report = table.sweep_now();
  fmt::print(
      "   swept {} in {:.0f} ms, in {} slices; the median slice held a lock for less than {:.2f} "
      "µs\n",
      report.removed, milliseconds(std::chrono::steady_clock::now() - began), report.slices,
      milliseconds(report.slice_quantile(0.5)) * 1000);
  require(table.size() == 0, "no expired lease remains");
}

}  // namespace holdfast::demo
