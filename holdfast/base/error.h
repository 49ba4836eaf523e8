#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast::base {

// The reason why an operation failed. Contention in a `try_` call is a value, not an error.
enum class ErrorCode : std::uint8_t {
  invalid_argument,  // the request can never succeed as written; fix the caller
  not_held,          // the lease is not, or no longer, the caller's
  busy,              // the name is held by another and the caller chose not to wait
  timed_out,         // the deadline passed first; nothing is held
  cancelled,         // the caller's stop token fired first; nothing is held
  lost,              // it was held, but exclusion can no longer be promised
  unavailable,       // the store cannot be reached or refuses to serve; nothing was changed
  unknown_outcome,   // the request was sent and no answer came; it may or may not have happened
  conflict,          // what is stored disagrees with the request, such as another capacity
  limit_exceeded,    // a configured bound was reached
  corrupt,           // what is stored cannot be read as a record of Holdfast
  unsupported,       // this engine does not offer the operation
  failed,            // the caller's own code, a method or a hook of an object, threw
  internal,          // a defect in Holdfast or in an engine
};

// Returns the enumerator's name, such as "timed_out".
std::string_view to_string(ErrorCode code) noexcept;

// A failure as a value: the code is for programs, the message for people. The message is a
// lower-case phrase without a full stop that says what to do where that is known.
struct Error {
  ErrorCode code;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

// Returns "CODE: MESSAGE", such as "invalid_argument: the key is empty".
std::string to_string(const Error& error);

template <class T>
using Result = std::expected<T, Error>;

// Builds the failing side of any Result: `return fail(ErrorCode::busy, "…");`
// Out of line and cold, so that the caller's success path stays small.
[[nodiscard, gnu::cold]] std::unexpected<Error> fail(ErrorCode code, std::string message);

// An Error as an exception, thrown only by the convenience functions that say so.
//
// Copying never throws: copies share one immutable Error.
//
//   try { provider.acquire("report"); }
//   catch (const base::Exception& e) { if (e.code() == base::ErrorCode::timed_out) … }
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error);

  [[nodiscard]] const Error& error() const noexcept { return *error_; }
  [[nodiscard]] ErrorCode code() const noexcept { return error_->code; }

 private:
  std::shared_ptr<const Error> error_;
};

[[noreturn, gnu::cold]] void throw_error(Error error);

// Returns the value, or throws the error as an Exception.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw_error(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace holdfast::base
