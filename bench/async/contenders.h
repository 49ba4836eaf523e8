#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <holdfast/async/async_key_lock.h>

#include "bench/async/channel_key_lock.h"

namespace holdfast::bench_async {

// AsyncKeyLock needs no executor; the others are constructed with one.
class HoldfastKeyLock : public async::AsyncKeyLock {
 public:
  explicit HoldfastKeyLock(const boost::asio::any_io_executor& /*executor*/) {}
};

inline constexpr const char* kHoldfast = "holdfast";
inline constexpr const char* kSharedChannel = "concurrent_channel per key, map";
inline constexpr const char* kLocalChannel = "channel per key, one thread only";

}  // namespace holdfast::bench_async
