#pragma once

#include <cstddef>

namespace holdfast::async {

// The pool of threads for a blocking engine. An engine that accepts requests without blocking
// (Redis) uses the threads only to start watching a name, one that answers at once (memory) not
// even for that; for both, the pool runs releases in the background.
struct AsyncOptions {
  // The greatest number of threads that ask the store; except for the first, each is started when
  // it is first needed.
  std::size_t pool_threads = 4;
  // The most claims that may wait for a thread; beyond that, ErrorCode::limit_exceeded. Only the
  // first waiter for a name claims.
  std::size_t pool_queue = 1'024;
};

}  // namespace holdfast::async
