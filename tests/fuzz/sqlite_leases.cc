// The leases of a record in SQLite: bytes that are read are exactly those that are written.
#include <string>

#include <tests/fuzz/fuzz.h>

#include <holdfast/engines/sqlite/internal/lease_codec.h>
#include <holdfast/store/claim.h>

using holdfast::fuzz::require;

// The first two bytes say what the rest of the record allows.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::engines::sqlite::internal;
  if (size < 2) {
    return 0;
  }
  holdfast::store::Record record;
  record.capacity = data[0] == 0xff ? holdfast::store::Permits::kAll : data[0];
  record.last_token = data[1] == 0xff ? ~std::uint64_t{0} : data[1];
  const std::string_view bytes = holdfast::fuzz::as_text(data + 2, size - 2);
  if (const auto read = decode_leases(bytes, record); !read) {
    require(record.leases.empty() && record.waits.empty() && record.log.empty(),
            "nothing is left of what cannot be read");
    return 0;
  }
  std::string again;
  const bool is_elsewhere = record.leases.rest().permits > 0;
  is_elsewhere ? encode_without_leases(record, again) : encode_leases(record, again);
  require(again == bytes, "what was read is written as it was");
  std::uint64_t permits = record.leases.rest().permits;
  for (const auto& lease : record.leases) {
    permits += lease.permits;
    require(lease.granted < lease.expires, "a lease lasts");
  }
  require(permits <= record.capacity, "no more is held than there is");
  return 0;
}
