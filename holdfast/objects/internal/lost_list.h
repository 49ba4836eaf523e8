#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/mutex.h>

namespace holdfast::objects::internal {

struct ObjectType;

struct LostObject {
  ObjectType* type;
  std::string id;
};

// The objects that another process owns and that must leave this process's memory; adding one wakes
// the sleeper. Thread-safe. Each active object is in it at most once.
class LostList {
 public:
  void add(ObjectType& type, std::string id);
  [[nodiscard]] std::vector<LostObject> take();
  // Sleeps until this time, an `add`, or the stop.
  void sleep(const base::Clock& clock, base::TimePoint until, const std::stop_token& stop);

 private:
  base::Mutex mutex_;
  std::vector<LostObject> objects_ HOLDFAST_GUARDED_BY(mutex_);
  std::stop_source wake_ HOLDFAST_GUARDED_BY(mutex_);  // of the sleep under way
};

}  // namespace holdfast::objects::internal
