#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

#include <boost/asio/execution_context.hpp>

#include <holdfast/async/internal/key_waiter.h>

namespace holdfast::async::internal {

// The waiters for keys that are resumed in one execution context (an io_context, a thread_pool).
// When the context is destroyed they are dropped, while it can still accept what belongs to it.
//
// Thread-safe. Its mutex is taken before that of a shard, never after.
class WaitingRoom final : public boost::asio::execution_context::service {
 public:
  using key_type = WaitingRoom;
  // Identifies the service to Asio, by its address.
  static boost::asio::execution_context::id id;

  explicit WaitingRoom(boost::asio::execution_context& context) : service(context) {}

  [[nodiscard]] static WaitingRoom& of(boost::asio::execution_context& context);

  void enter(KeyWaiter& waiter);
  // Removes a decided waiter and resumes it. The context is not destroyed meanwhile.
  void resume(KeyWaiter& waiter) noexcept;

 private:
  void shutdown() noexcept override;

  std::mutex mutex_;
  std::condition_variable left_;
  IntrusiveList<KeyWaiter, &KeyWaiter::seat> waiters_;
  std::size_t resuming_ = 0;
};

}  // namespace holdfast::async::internal
