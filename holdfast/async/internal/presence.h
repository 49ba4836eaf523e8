#pragma once

#include <mutex>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <holdfast/base/process_mark.h>

namespace holdfast::async::internal {

class Operation;

// The operations that must call a handler on an executor of one execution context. When that
// context ends, they are abandoned, so that nothing is posted to it afterwards. Thread-safe.
class Presence final : public boost::asio::execution_context::service {
 public:
  using key_type = Presence;
  static inline boost::asio::execution_context::id id;

  explicit Presence(boost::asio::execution_context& context)
      : boost::asio::execution_context::service(context) {}

  // Returns the Presence of the executor's context.
  [[nodiscard]] static Presence& of(const boost::asio::any_io_executor& executor);

  void add(Operation& operation);
  void remove(Operation& operation);

 private:
  void shutdown() noexcept override;

  const base::ProcessMark process_;
  std::mutex mutex_;
  Operation* first_ = nullptr;  // protected by mutex_
};

}  // namespace holdfast::async::internal
