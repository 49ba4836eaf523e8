#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <holdfast/async/internal/key_initiation.h>
#include <holdfast/async/key_list.h>

namespace holdfast::async::internal {

template <KeyMode kMode>
using LockAllSignature = void(boost::system::error_code, std::vector<BasicKeyGuard<kMode>>);

// Locks one key after the other, in the order of the list, for asio::async_compose.
template <KeyMode kMode, class Wait>
class KeyAllOperation {
 public:
  using Guard = BasicKeyGuard<kMode>;

  KeyAllOperation(KeyTable& table, KeyList list, Wait wait)
      : table_(table), list_(std::move(list)), wait_(std::move(wait)) {
    guards_.reserve(list_.keys().size());
  }

  template <class Self>
  void operator()(Self& self) {
    self.reset_cancellation_state(asio::enable_total_cancellation());
    if (!list_.keys().empty()) {
      lock_next(self);
    } else if (!std::exchange(is_posted_, true)) {
      asio::post(std::move(self));  // not in the call that begins the operation
    } else {
      complete(self, {});
    }
  }

  template <class Self>
  void operator()(Self& self, boost::system::error_code error, Guard guard) {
    if (!error) {
      guards_.push_back(std::move(guard));
      // A cancellation may have come between two keys.
      if (self.cancelled() != asio::cancellation_type::none) error = asio::error::operation_aborted;
    }
    if (error) {
      guards_.clear();
      complete(self, error);
    } else if (guards_.size() == list_.keys().size()) {
      complete(self, {});
    } else {
      lock_next(self);
    }
  }

 private:
  template <class Self>
  void lock_next(Self& self) {
    // The list moves with `self`, but the bytes of the keys stay in place.
    const std::string_view key = list_.keys()[guards_.size()];
    const KeyInitiation<kMode> lock{&*table_};
    const Wait wait = wait_;
    lock(std::move(self), KeyText(key), wait);
  }

  template <class Self>
  void complete(Self& self, boost::system::error_code error) {
    auto guards = std::move(guards_);
    self.complete(error, std::move(guards));
  }

  KeyTableReference table_;  // the lock may be destroyed between two keys
  KeyList list_;
  Wait wait_;
  std::vector<Guard> guards_;
  bool is_posted_ = false;
};

template <KeyMode kMode, class Wait, class Token>
auto async_lock_all(KeyTable& table, KeyList keys, Wait wait, Token&& token) {
  return asio::async_compose<Token, LockAllSignature<kMode>>(
      KeyAllOperation<kMode, Wait>(table, std::move(keys), std::move(wait)), token);
}

}  // namespace holdfast::async::internal
