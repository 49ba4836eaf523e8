#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <holdfast/local/key_stats.h>

namespace holdfast::objects {

// `created`: nothing was stored under the id. `loaded`: it came from the store. `active`: it was
// already in memory.
enum class CreateStatus : std::uint8_t { created, loaded, active };

// `unchanged`: nothing to save. `gone`: the object is not active; nothing was written.
enum class SaveStatus : std::uint8_t { saved, unchanged, gone };

// `absent`: neither active nor stored.
enum class EraseStatus : std::uint8_t { erased, absent };

// Statistics of a host since it was made.
struct HostStats {
  std::size_t active = 0;          // objects in memory now
  std::uint64_t saved = 0;         // objects written to the repository
  std::uint64_t failed_saves = 0;  // objects whose save failed, each time; they are tried again
  std::uint64_t lost = 0;          // objects dropped because another process owns them
  std::uint64_t idle = 0;          // objects that left memory because they were not called
  std::size_t keys_in_use = 0;     // locks of objects that are held or waited for now
  // All locks of objects: how often they were acquired, how often and how long callers waited.
  local::KeyLockStats locks{};
};

// An object that is in use or waited for, at one moment.
struct HeldObject {
  std::string type{};
  std::string id{};
  std::size_t users = 0;    // calls and saves that run
  bool exclusive = false;   // it is being created, erased or deactivated, or is in a `together`
  std::size_t waiting = 0;  // operations that wait for it, for its turn or for its save

  friend bool operator==(const HeldObject&, const HeldObject&) = default;
};

}  // namespace holdfast::objects
