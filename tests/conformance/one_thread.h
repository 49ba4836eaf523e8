#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <holdfast/base/error.h>

namespace holdfast::conformance {

namespace asio = boost::asio;

// The thread of an io_context on which all coroutines of all cases run, and a few threads for work
// that blocks.
class OneThread {
 public:
  static OneThread& the() {
    static OneThread thread;
    return thread;
  }
  ~OneThread() { context_.stop(); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

  // Runs the coroutine that `call()` returns to its end; returns its result, or throws what it
  // throws.
  template <class Call>
  auto run(Call call) {
    return value_of(asio::co_spawn(context_, awaited(std::move(call)), asio::use_future).get());
  }
  // Runs `work()`, which blocks, on another thread, for a coroutine.
  template <class Work>
  asio::awaitable<std::invoke_result_t<Work>> elsewhere(Work work) {
    auto ended = co_await asio::co_spawn(pool_, called(std::move(work)), asio::use_awaitable);
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      static_cast<void>(value_of(std::move(ended)));
    } else {
      co_return value_of(std::move(ended));
    }
  }

 private:
  // A result or an exception, by its text. What is thrown stays on its thread: the sanitizer does
  // not see into the library that counts the references of an exception, and takes its end on
  // another thread for a race.
  template <class T>
  using Ended =
      std::variant<std::string, base::Error, std::conditional_t<std::is_void_v<T>, bool, T>>;

  OneThread() = default;

  template <class Call, class T = typename std::invoke_result_t<Call>::value_type>
  static asio::awaitable<Ended<T>> awaited(Call call) {
    try {
      if constexpr (std::is_void_v<T>) {
        co_await call();
        co_return Ended<T>(std::in_place_index<2>);
      } else {
        co_return Ended<T>(std::in_place_index<2>, co_await call());
      }
    } catch (const base::Exception& thrown) {
      co_return thrown.error();
    } catch (const std::exception& thrown) {
      co_return std::string(thrown.what());
    }
  }
  template <class Work, class T = std::invoke_result_t<Work>>
  static asio::awaitable<Ended<T>> called(Work work) {
    try {
      if constexpr (std::is_void_v<T>) {
        work();
        co_return Ended<T>(std::in_place_index<2>);
      } else {
        co_return Ended<T>(std::in_place_index<2>, work());
      }
    } catch (const base::Exception& thrown) {
      co_return thrown.error();
    } catch (const std::exception& thrown) {
      co_return std::string(thrown.what());
    }
  }
  template <class Value>
  static Value value_of(std::variant<std::string, base::Error, Value>&& ended) {
    if (const auto* error = std::get_if<base::Error>(&ended)) {
      base::throw_error(*error);
    }
    if (const auto* text = std::get_if<std::string>(&ended)) {
      throw std::runtime_error(*text);
    }
    return std::get<2>(std::move(ended));
  }

  asio::thread_pool pool_{8};
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_ =
      asio::make_work_guard(context_);
  std::jthread thread_{[this] { context_.run(); }};
};

}  // namespace holdfast::conformance
