#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/log.h>
#include <holdfast/recipes/degradable_provider.h>
#include <holdfast/recipes/marker.h>
#include <holdfast/store/lease_store.h>

#include "invoice.h"
#include "invoice_table.h"

namespace invoices {

enum class Finding : std::uint8_t {
  unique,      // no duplicate; `add` has stored it
  exact,       // see Match
  near,        // see Match
  concurrent,  // another check of the invoice, or of its vendor, took too long: nothing is known
  processing,  // the very same file is being processed
};

// The enumerator's own spelling.
[[nodiscard]] std::string_view to_string(Finding finding) noexcept;

struct Verdict {
  Finding finding = Finding::unique;
  std::optional<Invoice> duplicate_of{};  // where it is exact or near
  // Less than full: the store was unavailable, and a duplicate may have slipped through.
  holdfast::recipes::Protection protection = holdfast::recipes::Protection::full;
};

struct DetectorOptions {
  std::filesystem::path database;
  // How long to wait for another check, all in all.
  holdfast::base::Duration wait = std::chrono::seconds(5);
  // Until this, a file counts as being processed though its process has died.
  holdfast::base::Duration processing_ttl = std::chrono::minutes(5);
  // How long the processing of an invoice takes between the check and the storing.
  holdfast::base::Duration work{};
  holdfast::recipes::WhenUnavailable when_unavailable = holdfast::recipes::WhenUnavailable::fail;
  holdfast::base::Logger logger{};
};

// Stores invoices, each once, whichever process or machine they are uploaded to.
//
// Thread-safe. Blocks for `wait` at the most, and for the work and the table.
//
// A check holds two names, always in this order: that of the invoice (account, number, vendor) and
// that of the vendor (account, vendor). The first lets uploads of one invoice wait for each other
// and not stand in the way of the vendor's others. The second closes a hole: invoices with
// different numbers can be near matches, and are checked under different names of the first kind.
// Vendors are meant by their normalised names, or two spellings would not meet.
//
// Errors: those of the lock store and of the table; lost where a lock ran out during the work, in
// which case nothing is stored.
class DuplicateDetector {
 public:
  DuplicateDetector(const std::shared_ptr<holdfast::store::LeaseStore>& store,
                    DetectorOptions options);

  // Whether it is there already. The answer is of this moment: to store it, use `add`.
  [[nodiscard]] holdfast::base::Result<Verdict> check_for_duplicate(const Invoice& invoice);
  // Stores it unless it is there already, both under the same locks.
  [[nodiscard]] holdfast::base::Result<Verdict> add(const Invoice& invoice,
                                                    std::string_view file_hash);

 private:
  struct Locks;

  // Nothing if they were not to be had in time.
  holdfast::base::Result<std::optional<Locks>> lock(const Invoice& invoice);
  holdfast::base::Result<Verdict> add_marked(const Invoice& invoice, std::string_view file_hash);

  const DetectorOptions options_;
  holdfast::recipes::DegradableProvider locks_;
  holdfast::recipes::Marker processing_;
};

}  // namespace invoices
