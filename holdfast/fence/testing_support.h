#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>

// Support for the tests of this folder.
namespace holdfast::fence::testing {

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void put(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// Returns the token of so much later than now, by the wall clock.
inline base::FencingToken token_in(std::chrono::hours time) {
  const auto later = std::chrono::system_clock::now().time_since_epoch() + time;
  return base::FencingToken{static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(later).count())};
}

// Returns the error's code as text, or "accepted".
template <class T>
std::string answer(const base::Result<T>& result) {
  return result ? "accepted" : std::string(base::to_string(result.error().code));
}

}  // namespace holdfast::fence::testing
