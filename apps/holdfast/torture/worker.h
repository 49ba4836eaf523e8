#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/lock_provider.h>

#include "apps/holdfast/torture/message.h"
#include "apps/holdfast/torture/register.h"
#include "apps/holdfast/torture/settings.h"

namespace holdfast::cli::torture {

// The work of one worker process: it acquires names, holds them, changes the registers of mutexes,
// and reports all of it. One thread.
class Worker {
 public:
  // Reports to this descriptor. `settings` outlive it.
  Worker(const Settings& settings, std::uint32_t number, int reports);

  // Works until this time on the boot clock, and ends what it has begun. Returns an exit status.
  int work(base::TimePoint until);

 private:
  void turn();
  [[nodiscard]] base::Result<std::optional<locks::Lock>> ask(const LockName& name,
                                                             std::uint32_t& permits);
  void hold(locks::Lock& lock, const Message& granted);
  // Waits until then, and notes until when the lock was held. Returns whether it still is.
  bool stay(const locks::Lock& lock, base::TimePoint until, Message& report);
  std::optional<std::uint64_t> read_register(const locks::Lock& lock, const Message& granted);
  void update(const locks::Lock& lock, std::uint64_t read, const Message& granted);
  [[nodiscard]] Register& register_of(std::uint32_t name);

  void send(const Message& message) const;
  void send_failure(const Message& about, const base::Error& error) const;
  std::uint64_t pick(std::uint64_t count) { return random_() % count; }
  [[nodiscard]] base::Duration time_to_hold();

  const Settings& settings_;
  const std::uint32_t number_;
  const int reports_;
  std::mt19937_64 random_;
  base::TimePoint until_{};
  std::uint64_t writes_ = 0;
  std::optional<locks::LockProvider> provider_;
  std::map<std::uint32_t, Register> registers_;
};

}  // namespace holdfast::cli::torture
