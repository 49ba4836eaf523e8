#include <holdfast/objects/internal/user_code.h>

#include <string>

namespace holdfast::objects::internal {

base::Error current_failure() {
  try {
    throw;
  } catch (const base::Exception& exception) {
    return exception.error();
  } catch (const std::exception& exception) {
    return {base::ErrorCode::failed, exception.what()};
  } catch (...) {
    return {base::ErrorCode::failed, "it threw something that is not a std::exception"};
  }
}

base::Error bad_request() {
  return {base::ErrorCode::invalid_argument,
          "the request does not fit: " + current_failure().message};
}

base::Error in_context(std::string_view what, base::Error error) {
  error.message = std::string(what) + ": " + error.message;
  return error;
}

}  // namespace holdfast::objects::internal
