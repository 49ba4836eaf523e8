// Names, ids and percent escapes: any bytes come back as they were.
#include <tests/fuzz/fuzz.h>

#include <holdfast/base/ids.h>
#include <holdfast/base/name.h>
#include <holdfast/base/percent.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  using fuzz::require;
  const std::string_view bytes = fuzz::as_text(data, size);
  const auto name = base::Name::make(bytes);
  require(name.has_value() == (size >= 1 && size <= base::Name::kMaxSize),
          "a name has 1 to 1,024 bytes");
  if (name) {
    require(name->view() == bytes, "a name is its bytes");
    fuzz::require_printable(name->printable(), "a name is shown as printable text");
  } else {
    fuzz::require_printable(name.error());
  }
  if (const auto id = base::LeaseId::parse(bytes)) {
    require(to_string(*id) == bytes, "an id has one text");
  } else {
    fuzz::require_printable(id.error());
  }
  const std::string escaped = base::percent_encode(bytes);
  require(base::percent_decode(escaped) == bytes, "escapes are resolved to the same bytes");
  fuzz::require_printable(escaped, "escaped text is printable");
  if (const auto plain = base::percent_decode(bytes)) {
    require(plain->size() <= bytes.size(), "to resolve escapes makes nothing longer");
  }
  return 0;
}
