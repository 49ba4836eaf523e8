#include <chrono>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/locks/lock_provider.h>

#include "bench/locks/child.h"
#include "bench/redis/bare_client.h"
#include "bench/redis/workloads.h"

namespace holdfast::bench_redis {

namespace {

constexpr const char* kName = "hand-off";

void wait_until_somebody_waits() {
  // A waiter is not visible outside the store; this is longer than it takes to start waiting.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// One turn: `lock` here, the other process begins to wait, `unlock` here; the time in ms until the
// other says that it was notified.
double turn(bench_locks::Child& other, const std::function<void()>& lock,
            const std::function<void()>& unlock) {
  lock();
  other.say("wait");
  wait_until_somebody_waits();
  const long long released = now_ns();
  unlock();
  return static_cast<double>(std::stoll(other.hear()) - released) * 1e-6;
}

}  // namespace

int wait_for_orders(const std::string& url) {
  const auto store = base::value_or_throw(engines::open_store(url));
  locks::LockProvider provider(store);
  for (std::string order; std::getline(std::cin, order);) {
    auto lock = provider.acquire(kName);
    const long long granted = now_ns();
    // A waiter sends this when it hears of its grant: a claim by the id that holds the name.
    const store::Claim claim{
        .id = lock.id(), .owner = "bench", .reason = "", .ttl = std::chrono::seconds(30)};
    const auto confirmed = base::value_or_throw(store->claim(kName, claim));
    const long long took = now_ns() - granted;
    if (!std::holds_alternative<store::Grant>(confirmed)) {
      throw std::runtime_error("the lock was lost");
    }
    base::value_or_throw(lock.release());
    std::cout << granted << '\n' << took << '\n' << std::flush;
  }
  return 0;
}

int listen_for_orders(const std::string& port) {
  BareClient client(static_cast<std::uint16_t>(std::stoi(port)));
  client.subscribe("told");
  std::cout << "ready" << '\n' << std::flush;
  for (std::string order; std::getline(std::cin, order);) {
    client.await_message();
    std::cout << now_ns() << '\n' << std::flush;
  }
  return 0;
}

int take_on_orders(const std::string& port) {
  const auto number = static_cast<std::uint16_t>(std::stoi(port));
  BareClient listening(number);
  BareClient taking(number);
  listening.subscribe("taken");
  std::cout << "ready" << '\n' << std::flush;
  for (std::string order; std::getline(std::cin, order);) {
    listening.await_message();
    taking.lock("taken");
    const long long granted = now_ns();
    taking.unlock("taken");
    std::cout << granted << '\n' << std::flush;
  }
  return 0;
}

Report hand_off(const Context& context) {
  const std::string port = std::to_string(context.server.port());
  bench_locks::Child waiter(role({"waiter", context.server.url()}));
  bench_locks::Child listener(role({"listener", port}));
  bench_locks::Child taker(role({"taker", port}));
  // Messages that are published before they listen would be lost.
  static_cast<void>(listener.hear());
  static_cast<void>(taker.hear());
  locks::LockProvider provider(base::value_or_throw(engines::open_store(context.server.url())));
  BareClient client(context.server.port());
  locks::Lock lock;
  std::vector<double> ours;
  std::vector<double> confirming;
  std::vector<double> told;
  std::vector<double> taken;
  const auto end = std::chrono::steady_clock::now() + context.settings.seconds;
  do {
    ours.push_back(turn(
        waiter, [&] { lock = provider.acquire(kName); },
        [&] { base::value_or_throw(lock.release()); }));
    confirming.push_back(static_cast<double>(std::stoll(waiter.hear())) * 1e-6);
    told.push_back(
        turn(listener, [&] { client.lock("told"); }, [&] { client.unlock_and_tell("told"); }));
    taken.push_back(
        turn(taker, [&] { client.lock("taken"); }, [&] { client.unlock_and_tell("taken"); }));
  } while (std::chrono::steady_clock::now() < end);
  const double ratio = bench_locks::median(ours) / bench_locks::median(told);
  return {
      .workload = "M2",
      .about = fmt::format("hand-off to a waiter in another process, median of {}", ours.size()),
      .rows = {{"holdfast", bench_locks::median(ours), "ms"},
               {"of which the confirming request", bench_locks::median(confirming), "ms"},
               {"hiredis, a subscriber that is notified", bench_locks::median(told), "ms"},
               {"hiredis, one that then takes the lock", bench_locks::median(taken), "ms"}},
      .targets = {
          {fmt::format("at most 1.5 times the subscriber's ({:.2f})", ratio), ratio <= 1.5}}};
}

}  // namespace holdfast::bench_redis
