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
  movable,  // moved where the engine's clock can be moved, else real
  real,     // real in any case
};

// Nothing if the engine has no place of that kind.
std::optional<Place> place_for(const EngineUnderTest& engine, CaseTime time);

// One case's place, and a provider on it whose network can be made bad. Where the engine's clock
// can be moved, the providers have one that moves along, and nothing happens by itself.
class ProviderRun {
 public:
  using MaybeLock = base::Result<std::optional<locks::Lock>>;

  ProviderRun(const EngineUnderTest& engine, Place place);

  [[nodiscard]] const EngineUnderTest& engine() const { return engine_; }
  [[nodiscard]] const Place& place() const { return place_; }
  [[nodiscard]] locks::LockProvider& provider() { return *provider_; }
  // What `provider()` talks to.
  [[nodiscard]] FaultyStore& network() { return *network_; }
  [[nodiscard]] const std::shared_ptr<FaultyStore>& shared_network() { return network_; }
  // The same data without faults.
  [[nodiscard]] store::LeaseStore& store() { return *store_; }
  // As another process would have it: a handle of its own, without faults.
  [[nodiscard]] std::unique_ptr<locks::LockProvider> another_provider(
      locks::ProviderOptions options = {});
  // The same on `network()`.
  [[nodiscard]] std::unique_ptr<locks::LockProvider> provider_with(locks::ProviderOptions options);
  void destroy_provider() { provider_.reset(); }

  [[nodiscard]] bool clock_moves() const { return place_.advance != nullptr; }
  // A ttl whose end a case waits for, or which a lock is to outlive.
  [[nodiscard]] base::Duration ttl() const;
  // For locks that are to be kept whatever the load of the machine: time passes in small steps, and
  // the keeper has a thousand of them for each renewal.
  [[nodiscard]] static locks::AcquireOptions options() { return {.ttl = std::chrono::hours(1)}; }
  // With ttl().
  [[nodiscard]] locks::AcquireOptions brief_options() const { return {.ttl = ttl()}; }
  // At least this long passes by the store's clock and the providers'.
  void pass(base::Duration time);
  // The condition comes to hold without any time passing, or while time passes in small steps.
  template <class Condition>
  [[nodiscard]] bool soon(Condition&& condition) {
    return eventually(std::forward<Condition>(condition));
  }
  template <class Condition>
  [[nodiscard]] bool in_time(Condition&& condition) {
    return eventually(std::forward<Condition>(condition), [&] { step(); });
  }
  // The lock of that name is kept while so much time passes.
  void keep_for(std::string_view name, base::Duration time);

  // Runs in a thread of its own; `result_of` lets time pass until it has ended.
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

  // A lease that nobody keeps, as of a process that has died.
  base::LeaseId abandon(std::string_view name, base::Duration ttl);
  [[nodiscard]] std::vector<store::Holder> holders(std::string_view name);

  // The options, with the clock of the run where it moves.
  [[nodiscard]] locks::ProviderOptions with_clock(locks::ProviderOptions options) const;

 private:
  void step();

  const EngineUnderTest engine_;
  const Place place_;
  const std::unique_ptr<base::ManualClock> clock_;  // null where time is real
  const std::shared_ptr<store::LeaseStore> store_;
  const std::shared_ptr<FaultyStore> network_;
  std::unique_ptr<locks::LockProvider> provider_;
};

// The lock; anything else ends the case with an exception.
[[nodiscard]] locks::Lock must_have(ProviderRun::MaybeLock outcome);
// Whether it was busy; an error ends the case.
[[nodiscard]] bool is_busy(const ProviderRun::MaybeLock& outcome);
// The code of the base::Exception that it throws; nothing if it throws none.
[[nodiscard]] std::optional<base::ErrorCode> code_thrown_by(const std::function<void()>& call);

struct ProviderCase {
  const char* name;
  void (*run)(ProviderRun& run);
  CaseTime time = CaseTime::movable;
};

}  // namespace holdfast::testing::internal
