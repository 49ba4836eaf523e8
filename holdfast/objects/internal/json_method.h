#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include <holdfast/base/error.h>
#include <holdfast/objects/internal/member_function.h>
#include <holdfast/objects/internal/user_code.h>
#include <holdfast/objects/object.h>

namespace holdfast::objects::internal {

// A method that is called by its name, with JSON in and out.
struct JsonMethod {
  std::function<base::Result<nlohmann::json>(Object&, const nlohmann::json& request)> call;
  Effect effect;
};

// Converts the request: nothing (null, or an empty array or object) for a method without arguments,
// the argument itself for a method with one, and an array for a method with more.
template <class Tuple>
Tuple arguments_from(const nlohmann::json& request) {
  constexpr std::size_t kCount = std::tuple_size_v<Tuple>;
  if constexpr (kCount == 0) {
    if (!request.empty()) {
      base::throw_error({base::ErrorCode::invalid_argument, "the method has no arguments"});
    }
    return {};
  } else if constexpr (kCount == 1) {
    return Tuple(request.get<std::tuple_element_t<0, Tuple>>());
  } else {
    if (!request.is_array() || request.size() != kCount) {
      base::throw_error({base::ErrorCode::invalid_argument,
                         "the request is to be an array of " + std::to_string(kCount)});
    }
    return [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      return Tuple(request[kIndex].template get<std::tuple_element_t<kIndex, Tuple>>()...);
    }(std::make_index_sequence<kCount>());
  }
}

template <class T, auto kMethod>
JsonMethod make_json_method() {
  using Parts = Method<kMethod>;
  using Reply = Value<typename Parts::Reply>;
  using Arguments = typename Parts::Arguments;
  const auto call = [](Object& object,
                       const nlohmann::json& request) -> base::Result<nlohmann::json> {
    std::optional<Arguments> arguments;
    try {
      arguments.emplace(arguments_from<Arguments>(request));
    } catch (...) {
      return std::unexpected(bad_request());
    }
    auto reply = run_user_code([&]() -> typename Parts::Reply {
      return std::apply(
          [&](auto&... argument) -> typename Parts::Reply {
            return (static_cast<T&>(object).*kMethod)(std::move(argument)...);
          },
          *arguments);
    });
    if (!reply) {
      return std::unexpected(std::move(reply).error());
    }
    if constexpr (std::is_void_v<Reply>) {
      return nlohmann::json(nullptr);
    } else {
      return run_user_code([&] { return nlohmann::json(*std::move(reply)); });
    }
  };
  return {call, Parts::kEffect};
}

}  // namespace holdfast::objects::internal
