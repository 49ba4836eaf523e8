#include <holdfast/async/internal/presence.h>

#include <utility>

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

#include <holdfast/async/internal/operation.h>

namespace holdfast::async::internal {

namespace asio = boost::asio;

Presence& Presence::of(const asio::any_io_executor& executor) {
  return asio::use_service<Presence>(asio::query(executor, asio::execution::context));
}

void Presence::add(Operation& operation) {
  const std::lock_guard guard(mutex_);
  operation.next_ = first_;
  if (first_ != nullptr) {
    first_->previous_ = &operation;
  }
  first_ = &operation;
}

void Presence::remove(Operation& operation) {
  const std::lock_guard guard(mutex_);
  (operation.previous_ != nullptr ? operation.previous_->next_ : first_) = operation.next_;
  if (operation.next_ != nullptr) {
    operation.next_->previous_ = operation.previous_;
  }
  operation.previous_ = operation.next_ = nullptr;
}

void Presence::shutdown() noexcept {
  if (process_.is_inherited()) {
    return;  // the operations belong to the parent's threads
  }
  for (;;) {
    Operation* operation = nullptr;
    {
      const std::lock_guard guard(mutex_);
      operation = first_;
    }
    if (operation == nullptr) {
      return;
    }
    remove(*operation);
    // A handler may destroy other operations that wait here.
    operation->abandon();
  }
}

}  // namespace holdfast::async::internal
