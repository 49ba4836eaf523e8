#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/objects/internal/lost_list.h>

namespace holdfast::objects::internal {

struct HostCore;

// The host's thread: saves changed objects, and removes idle and lost objects from memory. `stop`
// ends it; so does its destructor.
class Caretaker {
 public:
  explicit Caretaker(HostCore& host);

  void stop();

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
  void drop_lost();
  // Continues the walk over all objects that began last. Returns true if some left memory, and the
  // walk has not ended.
  bool retire_idle();
  // Saves the object and removes it from memory, if it is not in use and still idle.
  bool retire(ObjectType& type, std::string_view id, base::TimePoint idle_since);

  HostCore& host_;
  // Used by the thread only: lost objects that were in use, and how far the walk over idle ones is.
  std::vector<LostObject> still_lost_;
  IdleWalk idle_;
  std::jthread thread_;
};

}  // namespace holdfast::objects::internal
