#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include <holdfast/store/lease_store.h>

namespace holdfast::store {

// The watches of each name within this process. An engine notifies them when a name may be free,
// or was granted to a claim that waits.
//
// Thread-safe. A notification runs the callbacks in the calling thread. A watch may outlive
// the list. In a forked child it ends without a trace, and without waiting for anybody.
class WatchList {
 public:
  WatchList();
  ~WatchList();
  WatchList(const WatchList&) = delete;
  WatchList& operator=(const WatchList&) = delete;

  [[nodiscard]] Watch subscribe(std::string_view name, WatchCallback callback);

  // Returns whether anybody watches this name. Nearly free while nobody watches anything, as
  // `count` is.
  [[nodiscard]] bool has_watchers(std::string_view name) const { return count(name) > 0; }
  // Returns how many watches there are of this name.
  [[nodiscard]] std::size_t count(std::string_view name) const;

  // Calls the watchers of one name. Nearly free while nobody watches anything.
  void notify(std::string_view name, const Notice& notice) const;
  // Calls all watchers with a hint: for when it is not known what was missed.
  void notify_all() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace holdfast::store
