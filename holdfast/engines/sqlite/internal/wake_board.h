#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

namespace holdfast::engines::sqlite::internal {

// A board on which processes announce that a name may be free, or that a waiting claim was granted:
// the file `-wake` beside the database. Names fall into slots by their hash, and every process
// sleeps at an address, which is a word of the file and a bit of a futex's mask.
//
//   word.stamp           what a process compares before it sleeps: a wake writes a new one
//   word.awaited_until   until when a process that sleeps there wants to be woken by hints
//   slot.awaited_until   until when somebody wants hints for a name of this slot; a waiter keeps
//                        moving it on, so that a process that died leaves nothing behind
//   slot.hints           changes with each hint for this slot
//   slot.grants, slot.granted_to, slot.granted    changes with each grant: to which address, and
//                        which claim
//
// So a release that nobody waits for reads a few bytes, one that grants wakes one address, and only
// a hint wakes every process that wants hints.
//
// While a board is open, a byte beyond the end of the file is locked for its address, and one for
// where it sleeps: the kernel ends these locks with the process, so others see which addresses are
// alive. (A forked child that does not call exec keeps the locks of its parent.)
//
// The file is read and written, never looked at through its mapping, which only gives the futex its
// key: a file that somebody truncates ends no process.
//
// Thread-safe, also between processes. The content needs no trust: garbage in the file makes hints
// come for nothing or get lost, and both are allowed. The file is never removed.
class WakeBoard {
 public:
  // Makes the file if there is none, with the owner and the permissions of `database`. Another
  // file is left as it is, ErrorCode::unavailable: one that is not regular, has another size or a
  // second name, or belongs neither to this user, nor to the database's owner, nor to root. So is
  // one on a file system that cannot lock its bytes. `clock_ahead` is that of Machine.
  [[nodiscard]] static base::Result<std::unique_ptr<WakeBoard>> open(
      const std::filesystem::path& database, base::Duration clock_ahead = {});
  ~WakeBoard();
  WakeBoard(const WakeBoard&) = delete;
  WakeBoard& operator=(const WakeBoard&) = delete;

  using Slot = std::size_t;
  // The same in every process and build.
  [[nodiscard]] static Slot slot_of(std::string_view name) noexcept;

  using Address = std::uint32_t;
  // The address of a process that has no board.
  static constexpr Address kNoAddress = std::numeric_limits<Address>::max();
  // Returns the address of this board, which no other has. Boards share where they sleep only if
  // there are more of them than such places.
  [[nodiscard]] Address address() const noexcept { return address_; }
  // Returns false if the board with this address is not open any more: its process has ended.
  // Returns true if the kernel does not say.
  [[nodiscard]] bool is_alive(Address address) const noexcept;

  // Says that this board wants hints for the slot, for kAwaitedFor from now.
  static constexpr base::Duration kAwaitedFor = std::chrono::seconds(12);
  void await(Slot slot) const noexcept;
  [[nodiscard]] bool is_awaited(Slot slot) const noexcept;

  // The last news of a slot.
  struct News {
    std::uint32_t hints = 0;
    std::uint32_t grants = 0;
    Address granted_to = 0;
    base::LeaseId granted;
  };
  [[nodiscard]] News news(Slot slot) const noexcept;

  // Leaves a hint in the slot and wakes the boards that want hints. Returns the slot's new `hints`.
  std::uint32_t hint(Slot slot) const noexcept;
  // Leaves a grant in the slot and wakes that address alone.
  void grant(Slot slot, Address to, const base::LeaseId& id) const noexcept;

  // Returns what sleep() compares: to be asked before looking at the news.
  [[nodiscard]] std::uint32_t stamp() const noexcept;
  enum class Slept : std::uint8_t { till_woken, not_at_all, well, badly };
  // Sleeps until this address is woken after stamp() was `seen`, or for a while (`well`).
  // `not_at_all`: it, or another address of its word, was woken before. `badly`, at once: the file
  // was truncated, or cannot be read.
  [[nodiscard]] Slept sleep(std::uint32_t seen, base::Duration at_most) const noexcept;
  // Returns false if the file was removed or truncated: nothing that others say comes here any
  // more.
  [[nodiscard]] bool is_whole() const noexcept;
  // Ends the sleep of all boards at this address.
  void wake_self() const noexcept { wake(address_); }

 private:
  WakeBoard(int fd, void* mapping, base::Duration clock_ahead, Address address) noexcept;
  // Makes an address where no other board sleeps, if there is such a place, and locks its bytes.
  // Returns nothing, and sets errno, if they cannot be locked.
  [[nodiscard]] static std::optional<Address> take_address(int fd) noexcept;
  void wake(Address address) const noexcept;
  [[nodiscard]] std::int64_t now() const noexcept;
  [[nodiscard]] std::uint32_t* futex_of(Address address) const noexcept;

  const int fd_;
  void* const mapping_;  // never dereferenced
  const base::Duration clock_ahead_;
  const Address address_;
};

}  // namespace holdfast::engines::sqlite::internal
