#pragma once

#include <array>
#include <climits>
#include <cstdint>
#include <type_traits>

#include <holdfast/base/clock.h>

#include "apps/holdfast/torture/history.h"

namespace holdfast::cli::torture {

// A report of a worker, through a pipe that all workers share. Short enough for a write that is
// never mixed with another one, and never half done if the worker is killed.
struct Message {
  enum class Event : std::uint8_t {
    granted,  // a hold begins
    still,    // it goes on, sure until `time`
    ended,    // it has ended, sure until `time`
    updated,  // a write was acknowledged, or refused by the fence
    busy,     // a call ended without a lease
    failed,   // a call ended with an error
  };

  Event event = Event::busy;
  End end = End::open;
  bool acknowledged = false;
  bool held_afterwards = false;
  std::uint32_t worker = 0;
  std::uint32_t name = 0;
  std::uint32_t permits = 1;
  std::uint64_t token = 0;
  std::uint64_t write = 0;
  base::TimePoint asked{};  // on the boot clock, as all times
  base::TimePoint time{};
  base::TimePoint sure{};
  std::array<char, 160> text{};  // of an error
};
static_assert(std::is_trivially_copyable_v<Message> && sizeof(Message) <= PIPE_BUF);

}  // namespace holdfast::cli::torture
