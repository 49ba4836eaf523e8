#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/testing/engine_under_test.h>
#include <holdfast/testing/faulty_store.h>
#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/results.h>

namespace holdfast::testing::internal {

enum class CaseTime : std::uint8_t {
  movable,  // moved if the engine's clock can be moved, otherwise real
  real,     // always real
};

// Returns nullopt if the engine has no place of that kind.
std::optional<Place> place_for(const EngineUnderTest& engine, CaseTime time);

// One case's place, with a network that can fail. If the engine's clock can be moved, the clock of
// the providers moves with it, and nothing happens in real time.
class CaseRun {
 public:
  CaseRun(const EngineUnderTest& engine, Place place);

  [[nodiscard]] const EngineUnderTest& engine() const { return engine_; }
  [[nodiscard]] const Place& place() const { return place_; }
  // Returns the store with the faults of the network.
  [[nodiscard]] FaultyStore& network() { return *network_; }
  [[nodiscard]] const std::shared_ptr<FaultyStore>& shared_network() { return network_; }
  // Returns the same data without faults.
  [[nodiscard]] store::LeaseStore& store() { return *store_; }

  [[nodiscard]] bool clock_moves() const { return place_.advance != nullptr; }
  // Returns a ttl that a case waits for, or that a lock must survive by renewals.
  [[nodiscard]] base::Duration ttl() const;
  // Returns options for locks that must be kept whatever the load of the machine: time passes in
  // small steps, and the keeper has a thousand of them for each renewal.
  [[nodiscard]] static locks::AcquireOptions options() { return {.ttl = std::chrono::hours(1)}; }
  // Returns options with ttl().
  [[nodiscard]] locks::AcquireOptions brief_options() const { return {.ttl = ttl()}; }
  // Lets at least this long pass by the store's clock and the providers'.
  void pass(base::Duration time);
  // Returns whether the condition becomes true: without time passing, or while it passes in small
  // steps.
  template <class Condition>
  [[nodiscard]] bool soon(Condition&& condition) {
    return eventually(std::forward<Condition>(condition));
  }
  template <class Condition>
  [[nodiscard]] bool in_time(Condition&& condition) {
    return eventually(std::forward<Condition>(condition), [&] { step(); });
  }
  // Expects that the lock of that name is kept while this much time passes.
  void keep_for(std::string_view name, base::Duration time);

  // Runs in its own thread; `result_of` lets time pass until it has ended.
  template <class Work>
  [[nodiscard]] static auto in_background(Work&& work) {
    return std::async(std::launch::async, std::forward<Work>(work));
  }
  template <class T>
  T result_of(std::future<T>& running) {
    if (!in_time([&] { return has_ended(running); })) {
      ADD_FAILURE() << "a call does not end";
    }
    return running.get();
  }
  template <class Work>
  auto result_of_call(Work&& work) {
    auto running = in_background(std::forward<Work>(work));
    return result_of(running);
  }
  template <class T>
  [[nodiscard]] static bool has_ended(const std::future<T>& running) {
    return running.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  // Makes a lease that is not renewed, like that of a dead process.
  base::LeaseId abandon(std::string_view name, base::Duration ttl);
  [[nodiscard]] std::vector<store::Holder> holders(std::string_view name);
  // Returns whether the name becomes free without time passing: a handle of a coroutine releases
  // its lock in the background.
  [[nodiscard]] bool is_soon_free(std::string_view name) {
    return soon([&] { return holders(name).empty(); });
  }

  // Returns the options, with the clock of the run if it moves.
  [[nodiscard]] locks::ProviderOptions with_clock(locks::ProviderOptions options) const;

 private:
  void step();

  const EngineUnderTest engine_;
  const Place place_;
  const std::unique_ptr<base::ManualClock> clock_;  // null if time is real
  const std::shared_ptr<store::LeaseStore> store_;
  const std::shared_ptr<FaultyStore> network_;
};

// Returns the code of the base::Exception that the call throws; nullopt if it throws none.
[[nodiscard]] std::optional<base::ErrorCode> code_thrown_by(const std::function<void()>& call);

}  // namespace holdfast::testing::internal
