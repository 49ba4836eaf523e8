#pragma once

#include <string>
#include <string_view>

#include <holdfast/base/clock.h>

namespace holdfast::base {

// The text of a record for logs, such as `KeyState { key = "a", readers = 2 }`. For the sources of
// Holdfast alone: this header is not installed.
class RecordText {
 public:
  explicit RecordText(std::string_view type) : text_(std::string(type) + " {") {}

  // Adds bytes of any kind, quoted and made printable.
  RecordText& quoted(std::string_view field, std::string_view bytes);
  // Adds a text as it is.
  RecordText& plain(std::string_view field, std::string_view text);
  RecordText& number(std::string_view field, unsigned long long value);
  RecordText& flag(std::string_view field, bool value);
  // Adds a duration for people, such as "3m 20s".
  RecordText& time(std::string_view field, Duration value);

  [[nodiscard]] std::string str() const { return text_ + " }"; }

 private:
  std::string text_;
  bool first_ = true;
};

}  // namespace holdfast::base
