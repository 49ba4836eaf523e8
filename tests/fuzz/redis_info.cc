// A server's report on itself, judged: no text of it reaches people unescaped.
#include <tests/fuzz/fuzz.h>

#include <holdfast/engines/redis/internal/judgement.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::engines::redis::internal;
  const Info info = parse_info(holdfast::fuzz::as_text(data, size));
  for (const auto& [key, value] : info) {
    holdfast::fuzz::require(key.find_first_of(":\n") == key.npos, "a key ends before the colon");
    holdfast::fuzz::require(value.find('\n') == value.npos, "a value ends with its line");
  }
  for (const auto& finding : judge(info)) {
    holdfast::fuzz::require(!finding.detail.empty(), "a finding says something");
  }
  return 0;
}
