// A document as a record: any BSON, and any JSON that libbson takes, is a record or an error.
#include <optional>
#include <string>

#include <tests/fuzz/fuzz.h>

#include <holdfast/engines/mongodb/internal/record_codec.h>

namespace {

using namespace holdfast;
using namespace holdfast::engines::mongodb::internal;
using fuzz::require;

// Requires that the lease that was read is read equal from the text that we would write.
void check_lease(const store::StoredLease& lease) {
  if (lease.id.is_nil()) {
    require(lease.owner.size() <= store::Claim::kMaxOwner, "a foreign owner is cut");
    return;
  }
  Bson document;
  document.add("lockId", lock_id(lease.id, lease.owner, lease.reason))
      .add("expiresAt", Date{2})
      .add("acquiredAt", Date{1})
      .add("fencingToken", std::int64_t{7});
  Bson holder;
  holder.add("document", document);
  const auto again = record_of(*holder.find("document"));
  require(again && again->leases.size() == 1, "our own text is a lease");
  const store::StoredLease& read = again->leases.front();
  require(read.id == lease.id && read.owner == lease.owner && read.reason == lease.reason,
          "a lease that is written is read equal");
}

void check(const bson_t* document) {
  Bson holder;
  if (!bson_append_document(holder.reset(), "document", -1, document)) {
    return;
  }
  const auto value = holder.find("document");
  if (!value) {
    return;
  }
  const auto record = record_of(*value);
  static_cast<void>(was_released_last(*value, base::LeaseId(1, 2)));
  if (!record) {
    fuzz::require_printable(record.error());
    return;
  }
  for (const store::StoredLease& lease : record->leases) {
    check_lease(lease);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0 && data[0] == '{') {
    bson_error_t error;
    if (bson_t* const parsed = bson_new_from_json(data, static_cast<ssize_t>(size), &error)) {
      check(parsed);
      bson_destroy(parsed);
    }
    return 0;
  }
  bson_t document;
  if (bson_init_static(&document, data, size)) {
    check(&document);
  }
  return 0;
}
