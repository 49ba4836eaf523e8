#pragma once

#include <holdfast/locks/acquire_options.h>

namespace holdfast::async::internal {

// The options of a call without any.
inline const locks::AcquireOptions kDefaultOptions{};

template <class...>
inline constexpr bool kNever = false;

// Fails to compile. The overloads that take options by rvalue call it: g++ 12 destroys an aggregate
// twice if it is created within a co_await expression.
template <class... Arguments>
void refuse_unnamed_options() {
  static_assert(kNever<Arguments...>,
                "name the options: const AcquireOptions how{.wait = 5s}; "
                "co_await provider.acquire(name, how)");
}

}  // namespace holdfast::async::internal
