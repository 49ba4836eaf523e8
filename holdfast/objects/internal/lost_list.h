#pragma once

#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/base/clock.h>

namespace holdfast::objects::internal {

struct ObjectType;

struct LostObject {
  ObjectType* type;
  std::string id;
};

// The objects that another process has and that are to leave this one's memory; adding one wakes
// who sleeps here. Thread-safe. Each active object is in it once at the most.
class LostList {
 public:
  void add(ObjectType& type, std::string id);
  [[nodiscard]] std::vector<LostObject> take();
  // Until this time, an `add`, or the stop.
  void sleep(const base::Clock& clock, base::TimePoint until, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::vector<LostObject> objects_;  // protected by mutex_
  std::stop_source wake_;            // of the sleep under way; protected by mutex_
};

}  // namespace holdfast::objects::internal
