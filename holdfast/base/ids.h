#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/base/text_format.h>

namespace holdfast::base {

// The identity of one lease: 128 random bits, unique across threads, processes and machines.
//
// A value type. A default-constructed id is nil (all zero): it names no lease and is never
// generated. The text is exactly 32 lower-case hexadecimal digits, so that equal ids have equal
// text in a store.
class LeaseId {
 public:
  static constexpr std::size_t kTextSize = 32;

  constexpr LeaseId() noexcept = default;
  constexpr LeaseId(std::uint64_t high, std::uint64_t low) noexcept : high_{high}, low_{low} {}

  // Generates a new id. Thread-safe; not for signal handlers. A forked child never repeats an id of
  // its parent, however it was forked. Not guaranteed: two copies of one running machine, cloned
  // from a snapshot, may generate the same ids (they also share every lease that was held). Throws
  // std::system_error if the kernel returns no random bytes.
  [[nodiscard]] static LeaseId generate();

  // Parses the text of to_string(); anything else is invalid_argument.
  [[nodiscard]] static Result<LeaseId> parse(std::string_view text);

  [[nodiscard]] constexpr bool is_nil() const noexcept { return (high_ | low_) == 0; }
  [[nodiscard]] constexpr std::uint64_t high() const noexcept { return high_; }
  [[nodiscard]] constexpr std::uint64_t low() const noexcept { return low_; }

  friend constexpr auto operator<=>(const LeaseId&, const LeaseId&) noexcept = default;

 private:
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

std::string to_string(const LeaseId& id);
std::ostream& operator<<(std::ostream& out, const LeaseId& id);

// A number minted with each grant. For one name it only ever grows, so a resource that remembers
// the greatest token it has seen can reject stale tokens.
//
// A value type. Tokens of different names do not compare meaningfully.
class FencingToken {
 public:
  constexpr explicit FencingToken(std::uint64_t value) noexcept : value_{value} {}

  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

  friend constexpr auto operator<=>(const FencingToken&, const FencingToken&) noexcept = default;

 private:
  std::uint64_t value_;
};

// Returns the decimal digits.
std::string to_string(FencingToken token);
std::ostream& operator<<(std::ostream& out, FencingToken token);

}  // namespace holdfast::base

template <>
inline constexpr bool holdfast::base::kFormatsAsText<holdfast::base::LeaseId> = true;
template <>
inline constexpr bool holdfast::base::kFormatsAsText<holdfast::base::FencingToken> = true;

template <>
struct std::hash<holdfast::base::LeaseId> {
  // The bits are random already; combining both words also separates hand-made ids.
  constexpr std::size_t operator()(const holdfast::base::LeaseId& id) const noexcept {
    return static_cast<std::size_t>(id.high() ^ (id.low() * 0x9e3779b97f4a7c15U));
  }
};

template <>
struct std::hash<holdfast::base::FencingToken> {
  std::size_t operator()(const holdfast::base::FencingToken& token) const noexcept {
    return std::hash<std::uint64_t>{}(token.value());
  }
};
