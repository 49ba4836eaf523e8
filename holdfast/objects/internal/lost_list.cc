#include <holdfast/objects/internal/lost_list.h>

#include <utility>

namespace holdfast::objects::internal {

void LostList::add(ObjectType& type, std::string id) {
  std::stop_source sleep;
  {
    const base::MutexLock lock(mutex_);
    objects_.push_back({&type, std::move(id)});
    sleep = wake_;
  }
  sleep.request_stop();
}

std::vector<LostObject> LostList::take() {
  const base::MutexLock lock(mutex_);
  return std::exchange(objects_, {});
}

void LostList::sleep(const base::Clock& clock, base::TimePoint until, const std::stop_token& stop) {
  std::stop_source wake;
  {
    const base::MutexLock lock(mutex_);
    if (!objects_.empty()) {
      return;
    }
    wake_ = wake;
  }
  const std::stop_callback forward(stop, [&wake] { wake.request_stop(); });
  static_cast<void>(clock.sleep_until(until, wake.get_token()));
}

}  // namespace holdfast::objects::internal
