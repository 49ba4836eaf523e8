#include <holdfast/async/internal/key_error.h>

#include <boost/asio/error.hpp>

namespace holdfast::async::internal {

boost::system::error_code to_error(KeyOutcome outcome) {
  switch (outcome) {
    case KeyOutcome::entered: return {};
    case KeyOutcome::busy: return boost::asio::error::try_again;
    case KeyOutcome::aborted: return boost::asio::error::operation_aborted;
    case KeyOutcome::timed_out: return boost::asio::error::timed_out;
    case KeyOutcome::no_memory: return boost::asio::error::no_memory;
  }
  return boost::asio::error::operation_aborted;
}

}  // namespace holdfast::async::internal
