#include <holdfast/testing/taker.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::testing {

namespace {

using base::ErrorCode;
using locks::Lock;

constexpr int kUsage = 64;

struct Order {
  std::string url;
  std::string name;
  locks::AcquireOptions how;
  std::string count_file;
  int waiters = 0;
};

std::optional<Order> parse(std::span<char*> words) {
  if (words.size() < 3 || words.size() % 2 == 0) {
    return std::nullopt;
  }
  Order order{.url = words[1], .name = words[2], .how = {}, .count_file = {}};
  for (std::size_t i = 3; i + 1 < words.size(); i += 2) {
    const std::string_view option = words[i];
    const std::string value = words[i + 1];
    if (option == "--ttl") {
      order.how.ttl = std::chrono::milliseconds(std::stoll(value));
    } else if (option == "--wait") {
      order.how.wait = std::chrono::milliseconds(std::stoll(value));
    } else if (option == "--count") {
      order.count_file = value;
    } else if (option == "--waiters") {
      order.waiters = std::stoi(value);
    } else {
      return std::nullopt;
    }
  }
  return order;
}

void say(std::string_view line) { std::cout << line << '\n' << std::flush; }

void say_failed(const base::Error& error) {
  say("failed " + std::string(to_string(error.code)));
  std::cerr << "taker: " << error.message << '\n';
}

void say_check(const Lock& lock) {
  const auto held = lock.check();
  say(held ? "held" : held.error().code == ErrorCode::lost ? "lost" : "not_held");
}

void say_release(Lock& lock) {
  const auto outcome = lock.release();
  if (!outcome) {
    say_failed(outcome.error());
  } else {
    say(*outcome == store::ReleaseOutcome::released ? "released" : "not_held");
  }
}

void obey(Lock& lock) {
  for (std::string word; std::getline(std::cin, word) && word != "quit";) {
    if (word == "check") {
      say_check(lock);
    } else if (word == "release") {
      say_release(lock);
    } else if (word == "abandon") {
      std::_Exit(EXIT_SUCCESS);
    } else {
      say("what?");
    }
  }
}

int take(locks::LockProvider& provider, const Order& order) {
  auto outcome = provider.try_acquire(order.name, order.how);
  if (!outcome) {
    say_failed(outcome.error());
    return EXIT_FAILURE;
  }
  if (!*outcome) {
    say("busy");
    return EXIT_SUCCESS;
  }
  Lock lock = **std::move(outcome);
  say("acquired " + to_string(lock.token()));
  obey(lock);
  return EXIT_SUCCESS;
}

// Reads and writes in two steps, so that only the lock keeps the number right.
void add_one(const std::string& file) {
  long long number = 0;
  std::ifstream(file) >> number;
  std::ofstream(file) << number + 1;
}

int count(locks::LockProvider& provider, const Order& order) {
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> waiters;
    for (int i = 0; i < order.waiters; ++i) {
      waiters.emplace_back([&] {
        try {
          const Lock lock = provider.acquire(order.name, order.how);
          add_one(order.count_file);
          failures += lock.check() ? 0 : 1;
        } catch (const base::Exception& error) {
          ++failures;
          std::cerr << std::string("taker: ") + error.what() + "\n";
        }
      });
    }
  }
  say(failures == 0 ? "counted" : "failed to count");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int taker_main(int argc, char** argv, const OpenStore& open) {
  const auto order = parse(std::span(argv, static_cast<std::size_t>(argc)));
  if (!order) {
    std::cerr << "usage: taker URL NAME [--ttl MS] [--wait MS] [--count FILE --waiters N]\n";
    return kUsage;
  }
  auto store = open(order->url);
  if (!store) {
    say_failed(store.error());
    return EXIT_FAILURE;
  }
  locks::LockProvider provider(*std::move(store));
  return order->count_file.empty() ? take(provider, *order) : count(provider, *order);
}

}  // namespace holdfast::testing
