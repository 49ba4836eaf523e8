// Durations as people write them.
#include <tests/fuzz/fuzz.h>

#include <holdfast/base/duration_text.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const auto value = base::parse_duration(fuzz::as_text(data, size));
  if (!value) {
    fuzz::require(value.error().code == base::ErrorCode::invalid_argument, "a mistake is one");
    fuzz::require_printable(value.error());
    return 0;
  }
  fuzz::require(*value >= base::Duration::zero(), "no duration is negative");
  const auto again = base::parse_duration(std::to_string(value->count()) + "ns");
  fuzz::require(again && *again == *value, "a duration that is printed back is equal");
  const std::string shown = base::short_duration(*value);
  fuzz::require(!shown.empty(), "a duration is shown");
  fuzz::require_printable(shown, "as printable text");
  return 0;
}
