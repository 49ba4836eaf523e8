#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

#include <boost/asio/execution_context.hpp>

#include <holdfast/async/internal/key_waiter.h>

namespace holdfast::async::internal {

// Those who wait for keys and are to be resumed in one execution context (an io_context, a
// thread_pool). When the context is destroyed they are dropped, before it can no longer take what
// belongs to it.
//
// Thread-safe. Its mutex is taken before that of a shard, never after.
class WaitingRoom final : public boost::asio::execution_context::service {
 public:
  using key_type = WaitingRoom;
  // By its address Asio knows the service.
  static boost::asio::execution_context::id id;

  explicit WaitingRoom(boost::asio::execution_context& context) : service(context) {}

  [[nodiscard]] static WaitingRoom& of(boost::asio::execution_context& context);

  void enter(KeyWaiter& waiter);
  // Lets a decided waiter leave, and resumes it. Meanwhile the context is not destroyed.
  void resume(KeyWaiter& waiter) noexcept;

 private:
  void shutdown() noexcept override;

  std::mutex mutex_;
  std::condition_variable left_;
  IntrusiveList<KeyWaiter, &KeyWaiter::seat> waiters_;
  std::size_t resuming_ = 0;
};

}  // namespace holdfast::async::internal
