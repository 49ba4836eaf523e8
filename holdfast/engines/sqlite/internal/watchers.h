#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <holdfast/base/log.h>
#include <holdfast/engines/sqlite/internal/wake_board.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::engines::sqlite::internal {

// The watches of names in this process, and the thread that listens to other processes.
//
// Thread-safe. The thread starts with the first watch. Watches may outlive this; nobody tells them
// anything then. Destruction waits for a callback that is running.
class Watchers {
 public:
  // Without a board (null), only this process is heard.
  Watchers(std::unique_ptr<WakeBoard> board, base::Logger logger);
  ~Watchers();
  Watchers(const Watchers&) = delete;
  Watchers& operator=(const Watchers&) = delete;

  [[nodiscard]] bool hears_other_processes() const noexcept;
  [[nodiscard]] store::Watch add(std::string_view name, store::WatchCallback callback);
  // The name may be free: runs the callbacks of this process, and tells the others if any of them
  // waits. No system call if nobody does.
  void notify(std::string_view name);
  // The name was granted to the claim `id` of a process that sleeps at `to`: notifies that one
  // alone. A watch of this process whose waiter is not in the queue gets a hint: it may join.
  void grant(std::string_view name, WakeBoard::Address to, const base::LeaseId& id);
  // Returns where this process sleeps; kNoAddress without a board.
  [[nodiscard]] WakeBoard::Address address() const noexcept;
  // Returns false if the process that slept at the address has ended; true if that is not known.
  [[nodiscard]] bool is_alive(WakeBoard::Address address) const noexcept;

  // Says whether the claim of a waiter of this process is in the queue of the name. It is then
  // woken by its grant and by no hint, and costs nothing while it waits.
  enum class Queued : std::uint8_t { no, yes };
  void set_queued(std::string_view name, const base::LeaseId& id, Queued queued);

  // Returns whether this process will hear of a grant to the claim: it is in the queue, a thread
  // listens, and the `-wake` file is whole. If that ends, the waiter gets a hint in a few seconds.
  [[nodiscard]] bool hears(std::string_view name, const base::LeaseId& id) const;

  // Returns how often other processes have woken this one so far.
  [[nodiscard]] std::uint64_t times_woken() const noexcept;

 private:
  struct State;
  void start_listening();

  const std::shared_ptr<State> state_;
};

}  // namespace holdfast::engines::sqlite::internal
