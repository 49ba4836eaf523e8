// Threads, coroutines and cancellations at the same time. Only the keys protect the data, so that a
// thread sanitizer, and the sums at the end, detect every mistake.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/async_key_lock.h>
#include <holdfast/async/key_testing_support.h>

namespace holdfast::async {
namespace {

using namespace std::chrono_literals;
using namespace boost::asio::experimental::awaitable_operators;
namespace asio = boost::asio;

constexpr int kRounds = testing_support::kSanitized ? 100 : 1'000;
constexpr int kCoroutines = 24;
constexpr std::size_t kKeys = 4;

struct Tally {
  std::uint64_t writes = 0;
  std::uint64_t inconsistent = 0;
  std::uint64_t refused = 0;

  void operator+=(const Tally& other) {
    writes += other.writes;
    inconsistent += other.inconsistent;
    refused += other.refused;
  }
};

// Data that only the key protects.
class Guarded {
 public:
  void write(Tally& tally) {
    check(tally);
    for (std::uint64_t& word : words_) ++word;
    ++tally.writes;
  }
  // Returns whether no write is half done.
  void check(Tally& tally) const {
    for (const std::uint64_t word : words_) {
      if (word != words_.front()) ++tally.inconsistent;
    }
  }
  [[nodiscard]] std::uint64_t writes() const { return words_.front(); }

 private:
  std::array<std::uint64_t, 16> words_{};
};

// Stop sources that a thread fires while coroutines wait with their tokens.
class Fuses {
 public:
  explicit Fuses(std::size_t count) : sources_(count) {}

  std::stop_token renew(std::size_t which) {
    const std::lock_guard lock(mutex_);
    sources_[which] = std::stop_source();
    return sources_[which].get_token();
  }
  void fire(std::size_t which) {
    std::stop_source source(std::nostopstate);
    {
      const std::lock_guard lock(mutex_);
      source = sources_[which];
    }
    source.request_stop();
  }

 private:
  std::mutex mutex_;
  std::vector<std::stop_source> sources_;
};

class Crowd {
 public:
  // A coroutine that locks at random, in every possible way.
  asio::awaitable<Tally> member(unsigned seed) {
    std::mt19937 random(seed);
    Tally tally;
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor);
    for (int round = 0; round < kRounds; ++round) {
      const std::size_t key = random() % kKeys;
      const auto soon = std::chrono::microseconds(random() % 200);
      switch (random() % 6) {
        case 0: {
          const auto guard = co_await keys.lock(name(key));
          guarded_[key].write(tally);
          if (random() % 2 == 0) co_await asio::post(asio::use_awaitable);
          break;
        }
        case 1: {
          const auto guard = co_await keys.lock_shared(name(key));
          co_await asio::post(asio::use_awaitable);
          guarded_[key].check(tally);
          break;
        }
        case 2: {
          timer.expires_after(soon);
          auto result = co_await (keys.lock(name(key)) || timer.async_wait(asio::use_awaitable));
          if (result.index() == 0) {
            guarded_[key].write(tally);
          } else {
            ++tally.refused;
          }
          break;
        }
        case 3: {
          auto [error, guard] =
              co_await keys.lock_for(name(key), soon, asio::as_tuple(asio::use_awaitable));
          if (guard) {
            guarded_[key].write(tally);
          } else {
            ++tally.refused;
          }
          break;
        }
        case 4: {
          auto [error, guard] =
              co_await keys.lock(name(key), fuses.renew(seed), asio::as_tuple(asio::use_awaitable));
          if (guard) {
            guarded_[key].write(tally);
            const auto shared = std::move(guard).downgrade();
            co_await asio::post(asio::use_awaitable);
            guarded_[key].check(tally);
          } else {
            ++tally.refused;
          }
          break;
        }
        default: {
          const std::size_t other = random() % kKeys;
          const auto guards = co_await keys.lock_all({name(other), name(key)});
          guarded_[key].write(tally);
          guarded_[other].write(tally);
          break;
        }
      }
    }
    co_return tally;
  }

  void expect_sound(const Tally& tally) const {
    std::uint64_t writes = 0;
    for (const Guarded& guarded : guarded_) writes += guarded.writes();
    EXPECT_EQ(writes, tally.writes);
    EXPECT_EQ(tally.inconsistent, 0U);
    EXPECT_GT(tally.refused, 0U) << "no wait was ever ended";
    EXPECT_EQ(keys.size(), 0U);
  }

  AsyncKeyLock keys;
  Fuses fuses{kCoroutines};

 private:
  static std::string name(std::size_t key) { return "key number " + std::to_string(key); }

  std::array<Guarded, kKeys> guarded_;
};

// Runs the crowd: distributes its coroutines over the contexts, each of which has some threads.
void run_crowd(std::size_t contexts, std::size_t threads_each) {
  Crowd crowd;
  std::vector<std::unique_ptr<asio::io_context>> stages;
  for (std::size_t i = 0; i < contexts; ++i) stages.push_back(std::make_unique<asio::io_context>());
  std::vector<std::future<Tally>> members;
  for (unsigned i = 0; i < kCoroutines; ++i) {
    // On a strand, as Asio requires for an operation that is cancelled by a signal.
    members.push_back(asio::co_spawn(asio::make_strand(*stages[i % contexts]), crowd.member(i),
                                     asio::use_future));
  }
  std::atomic<bool> is_over = false;
  std::jthread firebug([&] {
    std::mt19937 random(1);
    while (!is_over) {
      crowd.fuses.fire(random() % kCoroutines);
      std::this_thread::yield();
    }
  });
  {
    std::vector<std::jthread> threads;
    for (const auto& stage : stages) {
      for (std::size_t i = 0; i < threads_each; ++i) {
        threads.emplace_back([&stage] { stage->run(); });
      }
    }
  }
  is_over = true;
  Tally tally;
  for (auto& member : members) tally += member.get();
  crowd.expect_sound(tally);
}

TEST(AsyncKeyStress, ManyThreadsOfOneContextWithRandomCancellation) { run_crowd(1, 4); }

TEST(AsyncKeyStress, SeveralContextsWithRandomCancellation) { run_crowd(3, 2); }

}  // namespace
}  // namespace holdfast::async
