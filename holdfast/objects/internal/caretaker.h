#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/objects/internal/activator.h>
#include <holdfast/objects/internal/host_state.h>
#include <holdfast/objects/internal/writer.h>

namespace holdfast::objects::internal {

// The host's thread: saves what has changed, takes what nobody calls and what another process has
// out of memory. `stop` ends it; so does its destructor.
class Caretaker {
 public:
  Caretaker(HostState& host, Activator& activator, Writer& writer);

  void stop();

  // Saves one object, and may wait for it.
  using SaveOne = std::function<base::Result<SaveOutcome>(ObjectType& type, std::string_view id)>;
  // Saves what is in the list now, of all types: in requests, and by `save_busy` what could not be
  // had at once. How many were saved, or the last error.
  base::Result<std::size_t> save_listed(const SaveOne& save_busy);

 private:
  void run(const std::stop_token& stop);
  void save_changed();
  // Between sweeps: what one is at work on is not in the list, and comes back to it if that fails.
  [[nodiscard]] std::vector<std::string> listed_ids(const ObjectType& type);
  void drop_lost();
  // True: some left memory, and there may be more.
  bool retire_idle();
  // Saved and out of memory, if nobody uses it at this moment and it is still idle.
  bool retire(ObjectType& type, std::string_view id, base::TimePoint idle_since);

  HostState& host_;
  Activator& activator_;
  Writer& writer_;
  std::mutex sweeping_;                 // one sweep at a time
  std::vector<LostObject> still_lost_;  // the thread's own: those that were in use
  std::jthread thread_;
};

}  // namespace holdfast::objects::internal
