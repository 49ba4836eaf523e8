#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::async {

// Several keys, each once, in the order in which they are locked: byte order. It owns them.
//
// A list in braces is taken by a variadic constructor, not by one for a std::initializer_list,
// which GCC 12 cannot store in a coroutine.
class KeyList {
 public:
  KeyList() = default;
  template <class... Texts>
    requires(sizeof...(Texts) > 0 && (std::convertible_to<const Texts&, std::string_view> && ...))
  KeyList(const Texts&... texts) {  // NOLINT(google-explicit-constructor)
    keys_.reserve(sizeof...(texts));
    (keys_.emplace_back(std::string_view(texts)), ...);
    put_in_order();
  }
  KeyList(std::vector<std::string> keys)  // NOLINT(google-explicit-constructor)
      : keys_(std::move(keys)) {
    put_in_order();
  }

  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }

 private:
  void put_in_order();

  std::vector<std::string> keys_;
};

}  // namespace holdfast::async
