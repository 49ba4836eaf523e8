#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>

// Support for the tests of this folder.
namespace holdfast::fence::testing {

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void put(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// Returns the error's code as text, or "accepted".
template <class T>
std::string answer(const base::Result<T>& result) {
  return result ? "accepted" : std::string(base::to_string(result.error().code));
}

}  // namespace holdfast::fence::testing
