#pragma once

#include <version>

#ifdef __cpp_lib_format
#include <format>
#include <string_view>
#endif

namespace holdfast::base {

// True for a type that std::format prints as its to_string(), where the standard library has
// std::format. Specialize it beside the type's to_string().
template <class T>
inline constexpr bool kFormatsAsText = false;

}  // namespace holdfast::base

#ifdef __cpp_lib_format
template <class T>
  requires holdfast::base::kFormatsAsText<T>
struct std::formatter<T> : std::formatter<std::string_view> {
  template <class Context>
  auto format(const T& value, Context& context) const {
    return std::formatter<std::string_view>::format(to_string(value), context);
  }
};
#endif
