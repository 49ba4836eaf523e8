#include <holdfast/async/internal/key_error.h>

#include <string>

#include <boost/asio/error.hpp>

#include <holdfast/async/limit_exceeded.h>
#include <holdfast/base/error.h>

namespace holdfast::async {

// Boost's category has no virtual destructor, and is never destroyed through its base.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
boost::system::error_code limit_exceeded() noexcept {
  class Category final : public boost::system::error_category {
   public:
    const char* name() const noexcept override { return "holdfast"; }
    std::string message(int /*code*/) const override {
      return "limit_exceeded: too many operations wait: raise AsyncKeyLockOptions::max_waiters";
    }
  };
  static const Category kCategory;
  return {static_cast<int>(base::ErrorCode::limit_exceeded), kCategory};
}
#pragma GCC diagnostic pop

namespace internal {

boost::system::error_code to_error(KeyOutcome outcome) {
  switch (outcome) {
    case KeyOutcome::entered: return {};
    case KeyOutcome::busy: return boost::asio::error::try_again;
    case KeyOutcome::aborted: return boost::asio::error::operation_aborted;
    case KeyOutcome::timed_out: return boost::asio::error::timed_out;
    case KeyOutcome::no_memory: return boost::asio::error::no_memory;
    case KeyOutcome::too_many: return limit_exceeded();
  }
  return boost::asio::error::operation_aborted;
}

}  // namespace internal

}  // namespace holdfast::async
