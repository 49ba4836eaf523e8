#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <holdfast/async/internal/context_members.h>
#include <holdfast/base/intrusive_list.h>

namespace holdfast::async::internal {

class KeyTable;
struct KeyEntry;

enum class KeyMode : std::uint8_t { exclusive, shared };

// The result of an attempt to enter a key, or of a wait.
enum class KeyOutcome : std::uint8_t {
  entered,
  busy,       // of an attempt only
  aborted,    // cancelled, stopped, or the lock was destroyed
  timed_out,  // at its deadline
  no_memory,  // for the entry of a new key
  too_many,   // of an attempt only: too many operations wait already
};

// A waiter for a key: the part of a lock operation that the table sees.
//
//   starting -> waiting -> decided
//          \_____________/
//
// `state` and `queue` change under the mutex of the key's shard. The thread that makes the waiter
// `decided`, under that mutex, owns it from then on, and resumes it, once.
class KeyWaiter : public ContextMember {
 public:
  enum class State : std::uint8_t { starting, waiting, decided };

  // Holds a reference to the table while it lives: a cancellation may come late.
  KeyWaiter(KeyTable& its_table, std::size_t its_hash, KeyMode its_mode) noexcept;

  // Lets the operation complete on its executor, never in this call. The waiter may be destroyed
  // when this returns.
  virtual void resume() noexcept = 0;

  KeyTable& table;
  const std::size_t hash;
  const KeyMode mode;

  State state = State::starting;
  KeyOutcome outcome = KeyOutcome::aborted;
  KeyEntry* entry = nullptr;
  std::chrono::steady_clock::time_point since{};  // when the wait began
  base::ListHook<KeyWaiter> queue;    // of the key, or of the waiters that were just decided
  ContextMembers* context = nullptr;  // constant once the wait begins

 protected:
  ~KeyWaiter();

 private:
  bool withdraw(WaiterQueue& let_in) noexcept final;
};

class WaiterQueue : public base::IntrusiveList<KeyWaiter, &KeyWaiter::queue> {};

}  // namespace holdfast::async::internal
