#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::local::internal {

using WaitDeadline = std::optional<std::chrono::steady_clock::time_point>;

// Sleeps while `word` holds `expected`, until woken or until the deadline has passed. May return
// early for no reason: the caller must read the word again. Returns false if the deadline has
// passed.
bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                const WaitDeadline& until) noexcept;

// Wakes one sleeper on the address. Does not read the word, which may already be destroyed.
void futex_wake_one(const std::atomic<std::uint32_t>* word) noexcept;

// Tells the processor that this is a spin loop.
inline void spin_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns whether spinning can pay: not on a single core, where the holder cannot run meanwhile.
bool spinning_helps() noexcept;

}  // namespace holdfast::local::internal
