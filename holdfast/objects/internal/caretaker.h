#pragma once

#include <cstddef>
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

// The host's thread: saves changed objects, and removes idle and lost objects from memory. `stop`
// ends it; so does its destructor.
class Caretaker {
 public:
  Caretaker(HostState& host, Activator& activator, Writer& writer);

  void stop();

  // Saves one object, and may wait for it.
  using SaveOne = std::function<base::Result<SaveOutcome>(ObjectType& type, std::string_view id)>;
  // Saves the listed objects of all types, in batches; passes an object that was busy to
  // `save_busy`. Returns how many were saved, or the last error.
  base::Result<std::size_t> save_listed(const SaveOne& save_busy);

 private:
  // The next shard to look at, and the ids of the last one that are still to be retired.
  struct IdleWalk {
    std::size_t type = 0;
    std::size_t shard = 0;
    ObjectType* from = nullptr;
    std::vector<std::string> ids{};
  };

  void run(const std::stop_token& stop);
  void save_changed();
  // Call it between sweeps: objects that a sweep works on are not listed, and are listed again if
  // it fails.
  [[nodiscard]] std::vector<std::string> listed_ids(const ObjectType& type);
  void drop_lost();
  // Continues the walk over all objects that began last. Returns true if some left memory, and the
  // walk has not ended.
  bool retire_idle();
  // Saves the object and removes it from memory, if it is not in use and still idle.
  bool retire(ObjectType& type, std::string_view id, base::TimePoint idle_since);

  HostState& host_;
  Activator& activator_;
  Writer& writer_;
  std::mutex sweeping_;  // one sweep at a time
  // Used by the thread only: lost objects that were in use, and how far the walk over idle ones is.
  std::vector<LostObject> still_lost_;
  IdleWalk idle_;
  std::jthread thread_;
};

}  // namespace holdfast::objects::internal
