// Support for the tests of the in-process locks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/local/key_lock.h>

namespace holdfast::local::testing_support {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

// Returns how many rounds a stress test runs: fewer under a sanitizer.
constexpr int stress_rounds(int plain) { return kSanitized ? plain / 8 : plain; }

template <class Condition>
void wait_until(Condition&& condition) {
  while (!condition()) {
    std::this_thread::yield();
  }
}

// Returns the key's state in the snapshot; a state with only the name if the key is not in it.
template <class Locks>
KeyState state_of(Locks& locks, std::string_view key) {
  const auto states = locks.snapshot();
  const auto found = std::ranges::find(states, key, &KeyState::key);
  return found != states.end() ? *found : KeyState{.key = std::string(key)};
}

template <class Locks>
std::size_t waiting_for(Locks& locks, std::string_view key) {
  const KeyState state = state_of(locks, key);
  return state.waiting_exclusive + state.waiting_shared;
}

// Returns when exactly `count` threads are queued for the key: they are blocked then.
template <class Locks>
void wait_until_waiting(Locks& locks, std::string_view key, std::size_t count) {
  wait_until([&] { return waiting_for(locks, key) == count; });
}

// Reads the key so often that its readers use their slots from now on, whatever was read before.
inline void make_biased(KeyLock& locks, std::string_view key) {
  constexpr int kMoreThanEnough = 600;
  for (int i = 0; i < kMoreThanEnough; ++i) {
    const SharedGuard guard = locks.lock_shared(key);
  }
}

// A key, and data that only the key's lock protects.
class Guarded {
 public:
  explicit Guarded(std::string name) : key(std::move(name)) {}

  void write() {
    for (std::uint64_t& word : words_) {
      ++word;
    }
  }
  // Returns whether no write is half done.
  [[nodiscard]] bool is_consistent() const {
    return std::ranges::all_of(words_, [&](std::uint64_t word) { return word == words_.back(); });
  }
  [[nodiscard]] std::uint64_t writes() const { return words_.front(); }

  const std::string key;

 private:
  std::array<std::uint64_t, 16> words_{};
};

using Names = std::vector<std::string>;

// Threads that queue for the key "k", one behind the other, and the order in which they are served.
class Line {
 public:
  explicit Line(KeyLock& locks) : locks_(locks) {}

  void writer(const std::string& name, const KeyWait& wait = {}) {
    stand(name, [=, this] { return after(locks_.lock("k", wait), name); });
  }
  void reader(const std::string& name, const KeyWait& wait = {}) {
    stand(name, [=, this] { return after(locks_.lock_shared("k", wait), name); });
  }

  // Returns the threads in the order in which they were served, when all of them were.
  Names served() {
    threads_.clear();
    return served_;
  }
  bool has_served(const std::string& name) {
    const std::lock_guard guard(mutex_);
    return std::ranges::find(served_, name) != served_.end();
  }

 private:
  void stand(const std::string& name, std::function<void()> wait) {
    const std::size_t before = waiting_for(locks_, "k");
    threads_.emplace_back(std::move(wait));
    wait_until([&] { return waiting_for(locks_, "k") > before || has_served(name); });
  }

  template <class Result>
  void after(const Result& result, const std::string& name) {
    const std::lock_guard guard(mutex_);
    served_.push_back(result                                 ? name
                      : result.error() == WaitEnd::cancelled ? name + " cancelled"
                                                             : name + " timed out");
  }

  KeyLock& locks_;
  std::mutex mutex_;
  Names served_;
  std::vector<std::jthread> threads_;
};

}  // namespace holdfast::local::testing_support
