#include <holdfast/base/error.h>

namespace holdfast::base {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::not_held: return "not_held";
    case ErrorCode::busy: return "busy";
    case ErrorCode::timed_out: return "timed_out";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::lost: return "lost";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::unknown_outcome: return "unknown_outcome";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::limit_exceeded: return "limit_exceeded";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::failed: return "failed";
    case ErrorCode::internal: return "internal";
  }
  return "unrecognised";
}

std::string to_string(const Error& error) {
  std::string text{to_string(error.code)};
  text += ": ";
  text += error.message;
  return text;
}

std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected{Error{code, std::move(message)}};
}

Exception::Exception(Error error)
    : std::runtime_error{to_string(error)},
      error_{std::make_shared<const Error>(std::move(error))} {}

void throw_error(Error error) { throw Exception{std::move(error)}; }

}  // namespace holdfast::base
