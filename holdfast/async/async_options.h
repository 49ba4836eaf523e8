#pragma once

#include <cstddef>

namespace holdfast::async {

// How the coroutine face asks a blocking engine. One that takes requests without blocking (Redis)
// uses the threads only to begin to watch a name, one that answers at once (memory) not even for
// that; with either, they give back what is given back in the background.
struct AsyncOptions {
  // The most threads that ask the store; but for the first, each is started when it is first
  // needed.
  std::size_t pool_threads = 4;
  // How many claims may wait for one of them: beyond, ErrorCode::limit_exceeded. Of all who wait
  // for a name only the first one claims.
  std::size_t pool_queue = 1'024;
};

}  // namespace holdfast::async
