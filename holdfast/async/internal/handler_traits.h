#pragma once

#include <memory>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#if __has_include(<boost/asio/recycling_allocator.hpp>)
#include <boost/asio/recycling_allocator.hpp>
#endif

#include <holdfast/async/internal/boost_version.h>

namespace holdfast::async::internal {

namespace asio = boost::asio;

#if __has_include(<boost/asio/recycling_allocator.hpp>)
// The allocator of Asio's own operations: memory that the thread used before.
using FallbackAllocator = asio::recycling_allocator<void>;
#else
using FallbackAllocator = std::allocator<void>;
#endif

template <class Handler>
using HandlerAllocator = asio::associated_allocator_t<Handler, FallbackAllocator>;

template <class Handler>
HandlerAllocator<Handler> allocator_of(const Handler& handler) {
  return asio::get_associated_allocator(handler, FallbackAllocator());
}

}  // namespace holdfast::async::internal
