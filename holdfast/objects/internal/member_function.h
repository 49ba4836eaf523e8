#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <holdfast/base/error.h>

namespace holdfast::objects::internal {

// Says if a method may have changed its object: a const method has not.
enum class Effect : std::uint8_t { reads, changes };

template <class C, class R, Effect kWhat, class... A>
struct MemberFunctionParts {
  using Class = C;
  using Reply = R;
  using Arguments = std::tuple<std::decay_t<A>...>;
  static constexpr Effect kEffect = kWhat;
};

// The class, arguments and result of a pointer to a member function.
template <class Pointer>
struct MemberFunction {
  static_assert(sizeof(Pointer) == 0, "a method is a pointer to a member function: &Account::pay");
};
template <class C, class R, class... A>
struct MemberFunction<R (C::*)(A...)> : MemberFunctionParts<C, R, Effect::changes, A...> {};
template <class C, class R, class... A>
struct MemberFunction<R (C::*)(A...) noexcept> : MemberFunctionParts<C, R, Effect::changes, A...> {
};
template <class C, class R, class... A>
struct MemberFunction<R (C::*)(A...) const> : MemberFunctionParts<C, R, Effect::reads, A...> {};
template <class C, class R, class... A>
struct MemberFunction<R (C::*)(A...) const noexcept>
    : MemberFunctionParts<C, R, Effect::reads, A...> {};

template <auto kMethod>
using Method = MemberFunction<std::remove_const_t<decltype(kMethod)>>;

// The type of a call's value: never a reference into the object; for a Result its value type,
// because its error becomes the call's.
template <class Reply>
struct ValueOf {
  using Type = std::decay_t<Reply>;
};
template <class Value>
struct ValueOf<base::Result<Value>> {
  using Type = Value;
};
template <class Reply>
using Value = typename ValueOf<std::remove_cvref_t<Reply>>::Type;

}  // namespace holdfast::objects::internal
