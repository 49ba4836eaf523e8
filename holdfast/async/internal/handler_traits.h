#pragma once

#include <memory>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/context_as.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#if __has_include(<boost/asio/recycling_allocator.hpp>)
#include <boost/asio/recycling_allocator.hpp>
#endif

#include <holdfast/async/internal/boost_version.h>
#include <holdfast/async/internal/waiting_room.h>

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

// Returns the waiting room of this executor's context; null if it has no execution context that
// could be destroyed.
template <class Executor>
WaitingRoom* waiting_room_of(const Executor& executor) {
  using Context = asio::execution::context_as_t<asio::execution_context&>;
  if constexpr (asio::can_query_v<const Executor&, Context>) {
    return &WaitingRoom::of(asio::query(executor, Context()));
  } else {
    return nullptr;
  }
}

}  // namespace holdfast::async::internal
