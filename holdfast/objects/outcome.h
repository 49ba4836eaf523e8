#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::objects {

// `created`: nothing was stored under the id. `loaded`: it came from the store. `active`: it was
// already in memory.
enum class CreateOutcome : std::uint8_t { created, loaded, active };

// `unchanged`: nothing to save. `gone`: the object is not active; nothing was written.
enum class SaveOutcome : std::uint8_t { saved, unchanged, gone };

// `absent`: neither active nor stored.
enum class EraseOutcome : std::uint8_t { erased, absent };

// Statistics of a host since it was made.
struct HostStats {
  std::size_t active = 0;          // objects in memory now
  std::uint64_t saved = 0;         // objects written to the repository
  std::uint64_t failed_saves = 0;  // objects whose save failed, each time; they are tried again
  std::uint64_t lost = 0;          // objects dropped because another process owns them
  std::uint64_t idle = 0;          // objects that left memory because they were not called
  std::size_t keys_in_use = 0;     // locks of objects that are held or waited for now
};

}  // namespace holdfast::objects
