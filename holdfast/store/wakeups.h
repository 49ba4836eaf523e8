#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <holdfast/store/lease_store.h>

namespace holdfast::store {

// Who watches which name, within this process: what an engine calls when a name may be free.
//
// Thread-safe. A notification runs the callbacks in the calling thread. Subscriptions may outlive
// the hub.
class Wakeups {
 public:
  Wakeups();
  ~Wakeups();
  Wakeups(const Wakeups&) = delete;
  Wakeups& operator=(const Wakeups&) = delete;

  [[nodiscard]] Watch subscribe(std::string_view name, std::function<void()> callback);

  // Nearly free when nobody watches anything.
  void notify(std::string_view name) const;
  // For when it is not known what was missed.
  void notify_all() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace holdfast::store
