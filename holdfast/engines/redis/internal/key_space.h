#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::engines::redis::internal {

// The slot of a cluster in which a key is: that of its hash tag, or of all of it where it has none.
[[nodiscard]] std::uint16_t slot_of(std::string_view key) noexcept;

// The keys of a name. Both are in one slot, whatever bytes the name has. The scripts make two more
// keys from the companion's, in the same slot: they begin with hfq: (see queue_key.lua) and hfe:
// (see count.lua) instead.
struct Keys {
  std::string plain;      // the prefix and the name: what other programs lock, too
  std::string companion;  // begins with hf:
};

// The keys of names, and the names of keys. Different names have different keys.
//
//   plain                       companion
//   a                           hf:{a}
//   a{tag}b                     hf:=a{tag}b
//   a}b (a brace, but no tag)   hf:+{1234}a}b    1234 has the slot of a}b
//
// A plain key that would begin with hf:, hfq:, hfe:, hfo: or hf~ begins with hf~ instead, so that
// it is nobody's companion.
//
// The objects of a type are in one slot, with the index of their ids:
//
//   type, id      index          object
//   order, 17     hfo:{order}    hfo:{order}:17
//   a}b, 17       hfo:{a%7Db}    hfo:{a%7Db}:17
//
// Thread-safe: constant.
class KeySpace {
 public:
  explicit KeySpace(std::string prefix) : prefix_(std::move(prefix)) {}

  // Return the pattern with which SCAN finds the keys, or the companions alone, of all names that
  // begin with these bytes, and maybe others.
  [[nodiscard]] std::string pattern(std::string_view prefix) const;
  [[nodiscard]] std::string companion_pattern(std::string_view prefix) const;

  [[nodiscard]] Keys keys_of(std::string_view name) const;
  // Return nullopt if the key is not one of this space.
  [[nodiscard]] std::optional<std::string> name_of_plain(std::string_view plain) const;
  [[nodiscard]] std::optional<std::string> name_of_companion(std::string_view companion) const;

  [[nodiscard]] std::string index_of(std::string_view type) const;
  [[nodiscard]] std::string object_of(std::string_view type, std::string_view id) const;

 private:
  const std::string prefix_;
};

}  // namespace holdfast::engines::redis::internal
