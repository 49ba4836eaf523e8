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
  concurrent,  // another check of the invoice, or of its vendor, took too long: no answer
  processing,  // the same file is being processed
};

// The enumerator's own spelling.
[[nodiscard]] std::string_view to_string(Finding finding) noexcept;

struct Verdict {
  Finding finding = Finding::unique;
  std::optional<Invoice> duplicate_of{};  // set for exact and near
  // If less than full, the store was unavailable and a duplicate may have been missed.
  holdfast::recipes::Protection protection = holdfast::recipes::Protection::full;
};

struct DetectorOptions {
  std::filesystem::path database;
  // The longest wait for other checks, in total.
  holdfast::base::Duration wait = std::chrono::seconds(5);
  // The time for which a file counts as being processed after its process has died.
  holdfast::base::Duration processing_ttl = std::chrono::minutes(5);
  // Simulated processing time between the check and the storing.
  holdfast::base::Duration work{};
  holdfast::recipes::WhenUnavailable when_unavailable = holdfast::recipes::WhenUnavailable::fail;
  holdfast::base::Logger logger{};
};

// A table of invoices that stores each invoice once, whichever process or machine it is uploaded
// to.
//
// Thread-safe. Blocks for `wait` at most, plus the work and the table.
//
// A check locks two names, always in this order: the invoice's (account, number, vendor) and the
// vendor's (account, vendor). With the first, uploads of one invoice wait for each other without
// blocking other invoices of the vendor. The second closes a hole: invoices with different numbers
// can be near matches, but have different names of the first kind. The names contain the normalised
// vendor, so that two spellings use the same lock.
//
// Errors: those of the lock store and of the table; lost if a lock expired during the work, in
// which case nothing is stored.
class DuplicateDetector {
 public:
  DuplicateDetector(const std::shared_ptr<holdfast::store::LeaseStore>& store,
                    DetectorOptions options);

  // Checks whether the invoice is stored already. The answer may be out of date when this returns:
  // to store an invoice, use `add`.
  [[nodiscard]] holdfast::base::Result<Verdict> check_for_duplicate(const Invoice& invoice);
  // Stores the invoice unless it is a duplicate; checks and stores under the same locks.
  [[nodiscard]] holdfast::base::Result<Verdict> add(const Invoice& invoice,
                                                    std::string_view file_hash);

  // Set, read and remove the mark of a file, for callers that process files by themselves, or that
  // show a user what is being processed. `add` needs none of them: it marks the file in one step,
  // where two callers that first check and then mark may both go on. `user` is the owner label of
  // the mark, for `holdfast show`: the same file of one account is the same work for every sender.
  [[nodiscard]] holdfast::base::Result<void> mark_processing(std::string_view user,
                                                             std::string_view account,
                                                             std::string_view file_hash);
  [[nodiscard]] holdfast::base::Result<bool> is_processing(std::string_view account,
                                                           std::string_view file_hash);
  [[nodiscard]] holdfast::base::Result<void> clear_processing(std::string_view account,
                                                              std::string_view file_hash);

 private:
  struct Locks;

  // Returns nullopt if the locks were not acquired in time.
  holdfast::base::Result<std::optional<Locks>> lock(const Invoice& invoice);
  holdfast::base::Result<Verdict> add_marked(const Invoice& invoice, std::string_view file_hash);

  const DetectorOptions options_;
  const std::shared_ptr<holdfast::store::LeaseStore> store_;
  holdfast::recipes::DegradableProvider locks_;
  holdfast::recipes::Marker processing_;
};

}  // namespace invoices
