#pragma once

#include <atomic>
#include <latch>
#include <mutex>
#include <thread>

#include <holdfast/engines/mongodb/internal/link.h>
#include <holdfast/engines/mongodb/internal/requests.h>

namespace holdfast::engines::mongodb::internal {

// Makes the index by which the server forgets idle names, once, in the background. Nothing but tidy
// housekeeping depends on it: a failure is logged and that is all.
//
// Thread-safe. The destructor gives it half a second to end, and then ends it.
class IndexMaker {
 public:
  // Both outlive it.
  IndexMaker(Link& link, const Requests& requests) : link_(link), requests_(requests) {}
  ~IndexMaker();
  IndexMaker(const IndexMaker&) = delete;
  IndexMaker& operator=(const IndexMaker&) = delete;

  // The first call starts it. Not if leases are judged by another clock than the index.
  void start();

 private:
  void run();

  Link& link_;
  const Requests& requests_;
  std::atomic<bool> stopping_ = false;
  std::latch done_{1};
  std::once_flag started_;
  std::thread thread_;
};

}  // namespace holdfast::engines::mongodb::internal
