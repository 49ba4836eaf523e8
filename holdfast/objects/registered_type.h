#pragma once

#include <concepts>
#include <string_view>

#include <holdfast/objects/internal/json_method.h>
#include <holdfast/objects/internal/type_registry.h>
#include <holdfast/objects/object.h>

namespace holdfast::objects {

// A type that was just registered, to name the methods that are called with JSON. Typed calls need
// no names.
//
//   host.register_type<Account>("account").method<&Account::deposit>("deposit");
template <std::derived_from<Object> T>
class RegisteredType {
 public:
  RegisteredType(internal::TypeRegistry& types, internal::ObjectType& type) noexcept
      : types_(types), type_(type) {}

  // Throws base::Exception with invalid_argument if the name is taken, or the host is in use.
  template <auto kMethod>
  RegisteredType& method(std::string_view name) {
    types_.add_method(type_, name, internal::make_json_method<T, kMethod>());
    return *this;
  }

 private:
  internal::TypeRegistry& types_;
  internal::ObjectType& type_;
};

}  // namespace holdfast::objects
