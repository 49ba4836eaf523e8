#pragma once

#include <atomic>
#include <latch>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <holdfast/base/clock.h>
#include <holdfast/engines/mongodb/internal/bson.h>
#include <holdfast/engines/mongodb/internal/link.h>

namespace holdfast::engines::mongodb::internal {

// The command that makes the index by which a document is forgotten so long after its date.
[[nodiscard]] Bson create_ttl_index(std::string_view collection, const std::string& field,
                                    base::Duration retention);

// Makes the index by which the server forgets idle names, once, in the background. Nothing but tidy
// housekeeping depends on it: a failure is logged and that is all.
//
// Thread-safe. The destructor gives it half a second to end, and then ends it.
class IndexMaker {
 public:
  // `link` outlives it.
  IndexMaker(Link& link, Bson create_index) : link_(link), create_index_(std::move(create_index)) {}
  ~IndexMaker();
  IndexMaker(const IndexMaker&) = delete;
  IndexMaker& operator=(const IndexMaker&) = delete;

  // The first call starts it.
  void start();

 private:
  void run();

  Link& link_;
  const Bson create_index_;
  std::atomic<bool> stopping_ = false;
  std::latch done_{1};
  std::once_flag started_;
  std::thread thread_;
};

}  // namespace holdfast::engines::mongodb::internal
