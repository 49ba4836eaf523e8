#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace holdfast::engines::redis::internal {

// A Lua script that the server runs as one step. The constants are made from the files in lua/.
struct Script {
  std::string_view sha;  // of the text: by it the server knows a script that it has seen
  std::string_view text;
};

// Several values as one argument.
template <class First, class... Others>
[[nodiscard]] std::string words(const First& first, const Others&... others) {
  std::string text;
  const auto append = [&](const auto& value) {
    if constexpr (std::integral<std::remove_cvref_t<decltype(value)>>) {
      text.append(std::to_string(value));
    } else {
      text.append(value);
    }
  };
  append(first);
  ((text.push_back(' '), append(others)), ...);
  return text;
}

// One command in the form in which it goes to the server, its arguments any bytes.
//
//   Command set("SET", key, value, "PX", 30'000, "NX");
//   Command evalsha("EVALSHA", sha, 1, key);
//   for (…) { evalsha.add(id); }
class Command {
 public:
  template <class... Arguments>
  explicit Command(std::string_view name, const Arguments&... arguments) {
    bytes_.reserve(kHeaderSpace + (std::size_t{kArgumentSpace} * (sizeof...(arguments) + 1)));
    bytes_.append(kHeaderSpace, ' ');
    add(name);
    (add(arguments), ...);
  }

  // Runs the script: add the number of keys, the keys, and the arguments. The script is a constant.
  explicit Command(const Script& script) : Command("EVALSHA", script.sha) { text_ = script.text; }

  Command& add(std::string_view argument);
  template <std::integral Number>
  Command& add(Number number) {
    return add(std::string_view(std::to_string(number)));
  }

  // The whole command. Valid until the next add().
  [[nodiscard]] std::string_view bytes() const noexcept;

  // Returns the same with the text of its script in place of the sha: `EVAL text …` for
  // `EVALSHA sha …`. Only of a command that has one.
  [[nodiscard]] Command with_text() const;
  [[nodiscard]] bool has_text() const noexcept { return !text_.empty(); }

  // A script that serves one name or several, `EVALSHA sha 2 key key common argument…`, may be
  // joined with others: see append_joined(). With the arguments that were added so far: what is
  // added later is sent only where the command goes alone.
  void make_joinable();
  [[nodiscard]] bool is_joinable() const noexcept { return own_at_ != 0; }

  // The parts of a joinable command. Valid as long as bytes() is.
  struct Parts {
    std::string_view script;  // EVALSHA sha
    std::string_view keys;
    std::string_view common;
    std::string_view own;  // arguments
  };
  [[nodiscard]] Parts parts() const noexcept;
  static constexpr std::size_t kKeys = 2;
  static constexpr std::size_t kOthers = 4;  // EVALSHA, sha, how many keys, common
  [[nodiscard]] std::size_t own_arguments() const noexcept { return joined_ - kKeys - kOthers; }

 private:
  void write_header();

  // The header tells the number of arguments, which is known last; it is kept flush with the first
  // argument, at the end of this space.
  static constexpr std::size_t kHeaderSpace = 23;
  static constexpr std::size_t kArgumentSpace = 32;

  std::string bytes_;
  std::string_view text_;  // of its script
  std::size_t arguments_ = 0;
  std::size_t begin_ = 0;
  // The beginning of its parts, once it is joinable.
  std::size_t count_at_ = 0;
  std::size_t keys_at_ = 0;
  std::size_t common_at_ = 0;
  std::size_t own_at_ = 0;  // 0: it is not joinable
  std::size_t own_end_ = 0;
  std::size_t joined_ = 0;  // how many arguments, up to there
};

// One script that serves many names costs the server far less than a script for each. Joined,
// commands are
//
//   EVALSHA sha 2n  the keys of each  what they have in common  the arguments of each
//
// and the answer is an array of n. If an element is nil, or the answer no such array, nothing was
// done for that command, and it is to be sent alone, with all its arguments. So for each name, such
// a script first does what may fail, and writes last; and nothing that fails for one name ends it.

// Returns whether both run the same script, with as many arguments and the same common ones.
[[nodiscard]] bool may_be_joined(const Command& one, const Command& other) noexcept;

// Appends them as one to what is to be sent. Each two of them may be joined.
void append_joined(std::span<const Command* const> commands, std::string& bytes);

}  // namespace holdfast::engines::redis::internal
