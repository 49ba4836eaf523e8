#pragma once

#include <boost/system/error_code.hpp>

namespace holdfast::async {

// Returns base::ErrorCode::limit_exceeded as an error_code of Asio's operations.
//
//   catch (const boost::system::system_error& e) { if (e.code() == limit_exceeded()) … }
[[nodiscard]] boost::system::error_code limit_exceeded() noexcept;

}  // namespace holdfast::async
