#include <holdfast/base/record_text.h>

#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/printable.h>

namespace holdfast::base {

RecordText& RecordText::plain(std::string_view field, std::string_view text) {
  text_.append(std::exchange(first_, false) ? " " : ", ").append(field).append(" = ").append(text);
  return *this;
}

RecordText& RecordText::quoted(std::string_view field, std::string_view bytes) {
  return plain(field, "\"" + printable(bytes) + "\"");
}

RecordText& RecordText::number(std::string_view field, unsigned long long value) {
  return plain(field, std::to_string(value));
}

RecordText& RecordText::flag(std::string_view field, bool value) {
  return plain(field, value ? "true" : "false");
}

RecordText& RecordText::time(std::string_view field, Duration value) {
  return plain(field, short_duration(value));
}

}  // namespace holdfast::base
