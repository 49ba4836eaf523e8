#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace holdfast::async {

// Starts a coroutine; an exception from it ends the context's run.
template <class Coroutine>
void spawn(boost::asio::io_context& context, Coroutine&& coroutine) {
  boost::asio::co_spawn(context, std::forward<Coroutine>(coroutine),
                        [](const std::exception_ptr& error) {
                          if (error) {
                            std::rethrow_exception(error);
                          }
                        });
}

}  // namespace holdfast::async
