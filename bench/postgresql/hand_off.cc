#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/postgresql/bare_client.h"
#include "bench/postgresql/workloads.h"

namespace holdfast::bench_postgresql {

namespace {

constexpr const char* kName = "hand-off";

using Clock = std::chrono::steady_clock;

// One turn: `wait` begins in another thread, then `release` here; the time in ms until `wait` has
// returned.
double turn(const std::function<void()>& wait, const std::function<void()>& release) {
  Clock::time_point heard;
  std::jthread waiter([&] {
    wait();
    heard = Clock::now();
  });
  // A waiter is not visible outside the store; this is longer than it takes to start waiting.
  std::this_thread::sleep_for(std::chrono::milliseconds(8));
  const auto released = Clock::now();
  release();
  waiter.join();
  return std::chrono::duration<double, std::milli>(heard - released).count();
}

}  // namespace

Report hand_off(const Context& context) {
  locks::LockProvider here(base::value_or_throw(engines::open_store(context.url)));
  locks::LockProvider there(base::value_or_throw(engines::open_store(context.url)));
  BareClient listening(context.url);
  BareClient telling(context.url);
  listening.run("LISTEN told");
  telling.run("CREATE TABLE IF NOT EXISTS told (name text PRIMARY KEY, holder text)");
  telling.run("INSERT INTO told VALUES ('name', 'me') ON CONFLICT DO NOTHING");
  telling.prepare("release",
                  "WITH u AS (UPDATE told SET holder = NULL WHERE name = $1::text RETURNING name) "
                  "SELECT pg_notify('told', name) FROM u");
  listening.prepare("take", "UPDATE told SET holder = 'me' WHERE name = $1::text");
  std::vector<double> ours;
  std::vector<double> told;
  std::vector<double> taken;
  const auto end = Clock::now() + context.seconds;
  do {
    locks::Lock lock = here.acquire(kName);
    locks::Lock next;
    ours.push_back(
        turn([&] { next = there.acquire(kName); }, [&] { base::value_or_throw(lock.release()); }));
    base::value_or_throw(next.release());
    told.push_back(
        turn([&] { listening.await_notification(); }, [&] { telling.run("release", {"name"}); }));
    taken.push_back(turn(
        [&] {
          listening.await_notification();
          listening.run("take", {"name"});
        },
        [&] { telling.run("release", {"name"}); }));
  } while (Clock::now() < end);
  const double ratio = bench_locks::median(ours) / bench_locks::median(told);
  return {
      .workload = "M2",
      .about = fmt::format("hand-off to a waiter at another store, median of {}", ours.size()),
      .rows = {{"holdfast", bench_locks::median(ours), "ms"},
               {"libpq, a listener that is notified", bench_locks::median(told), "ms"},
               {"libpq, one that then takes the lock", bench_locks::median(taken), "ms"}},
      .targets = {{fmt::format("at most 1.5 times the listener's ({:.2f})", ratio), ratio <= 1.5}}};
}

}  // namespace holdfast::bench_postgresql
