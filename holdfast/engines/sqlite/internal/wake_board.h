#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>

namespace holdfast::engines::sqlite::internal {

// How processes tell each other that a name may be free: a page of memory that they share, the file
// `-wake` beside the database. Names fall into slots by their hash.
//
//   slot.awaited_until   until when somebody waits for a name of this slot; who waits keeps moving
//   it
//                        on, so that of a process that died nothing is left that needs clean-up
//   slot.hints           counts the hints for this slot
//   hints                counts all hints; who waits sleeps on this word (a futex)
//
// So a release that nobody waits for reads one number and makes no system call, and one that is
// waited for wakes every listening process, which then looks whether one of its slots has changed.
//
// Thread-safe, also between processes. The content needs no trust: garbage in the file makes hints
// come for nothing or get lost, and both are allowed. The file is never removed.
class WakeBoard {
 public:
  // Makes the file if need be, with the owner and the permissions of `database`.
  [[nodiscard]] static base::Result<std::unique_ptr<WakeBoard>> open(
      const std::filesystem::path& database);
  ~WakeBoard();
  WakeBoard(const WakeBoard&) = delete;
  WakeBoard& operator=(const WakeBoard&) = delete;

  using Slot = std::size_t;
  // The same in every process and build.
  [[nodiscard]] static Slot slot_of(std::string_view name) noexcept;

  // Says that somebody waits, for kAwaitedFor from now.
  static constexpr base::Duration kAwaitedFor = std::chrono::seconds(3);
  void await(Slot slot) noexcept;
  [[nodiscard]] bool is_awaited(Slot slot) const noexcept;

  [[nodiscard]] std::uint32_t hints(Slot slot) const noexcept;
  // Counts a hint and returns the count before. Wakes nobody yet.
  std::uint32_t add_hint(Slot slot) noexcept;

  [[nodiscard]] std::uint32_t all_hints() const noexcept;
  // Wakes every process that sleeps.
  void wake_all() noexcept;
  // Sleeps until somebody has called wake_all() since all_hints() was `seen`, or for a while.
  void sleep(std::uint32_t seen, base::Duration at_most) const noexcept;

 private:
  struct Page;
  explicit WakeBoard(Page* page) noexcept : page_(page) {}

  Page* const page_;
};

}  // namespace holdfast::engines::sqlite::internal
