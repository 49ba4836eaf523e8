#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/scale/row.h"

namespace holdfast::bench_scale {

namespace {

using Clock = std::chrono::steady_clock;

// A lock that is not renewed, and how late `lost` fires.
class Brief {
 public:
  Brief(locks::LockProvider& provider, const std::string& name)
      : lock_(provider.acquire(name, {.ttl = std::chrono::milliseconds(200),
                                      .max_hold = std::chrono::milliseconds(1)})),
        due_(Clock::now() + lock_.time_left()),
        on_lost_(lock_.lost(), [this] { late_ = Clock::now() - due_; }) {}

  // Returns zero until it is lost.
  [[nodiscard]] Seconds late() const { return late_.load(); }

 private:
  const locks::Lock lock_;
  const Clock::time_point due_;
  std::atomic<Clock::duration> late_{};
  const std::stop_callback<std::function<void()>> on_lost_;
};

// The longest times of other locks of a busy provider.
struct Longest {
  Seconds acquire{0};
  Seconds late{0};  // until `lost` fired
};

// Acquires and loses other locks all the time.
Longest longest(locks::LockProvider& provider, Seconds wall) {
  Longest longest;
  const auto end = Clock::now() + wall;
  int names = 0;
  std::optional<Brief> brief;
  for (auto now = Clock::now(); now < end; now = Clock::now()) {
    const auto lock = provider.acquire("another");
    longest.acquire = std::max<Seconds>(longest.acquire, Clock::now() - now);
    if (brief && brief->late() > Seconds::zero()) {
      longest.late = std::max(longest.late, brief->late());
      brief.reset();
    }
    if (!brief) brief.emplace(provider, fmt::format("brief/{}", names++));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return longest;
}

Measured held(Context& context, std::size_t leases) {
  const std::chrono::seconds ttl(context.quick() ? 1 : 10);
  locks::LockProvider provider(base::value_or_throw(engines::open_store("memory:")));
  std::vector<locks::Lock> held;
  held.reserve(leases);
  for (std::size_t i = 0; i < leases; ++i) {
    held.push_back(provider.acquire(fmt::format("job/{}", i), {.ttl = ttl}));
  }
  // A whole number of renewals, so that the share does not depend on the start.
  const Seconds wall = Seconds(ttl) / 3 * (context.quick() ? 1 : 2);
  const Seconds before = bench_locks::cpu_time();
  const Longest others = longest(provider, wall);
  const double share = (bench_locks::cpu_time() - before) / wall * 100;
  const auto lost =
      std::ranges::count_if(held, [](const locks::Lock& lock) { return !lock.check(); });
  return {
      .value = share,
      .note = fmt::format("{} lost, others: acquire at most {:.1f} ms, lost at most {:.1f} ms late",
                          lost, others.acquire.count() * 1000, others.late.count() * 1000)};
}

}  // namespace

std::vector<Row> keeper_rows() {
  return {{.name = "keeper",
           .about = "the processor time to keep held leases alive, memory store",
           .size = "leases",
           .unit = "% of a core",
           .sizes = {10'000, 100'000, 1'000'000},
           .quick_sizes = {10, 100, 1'000},
           .measure = held}};
}

}  // namespace holdfast::bench_scale
