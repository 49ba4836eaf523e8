#include <algorithm>
#include <array>
#include <stop_token>
#include <string>
#include <utility>

#include "duplicate_detector.h"
#include "near_match.h"
#include "vendor_name.h"

namespace invoices {

namespace {

using holdfast::base::Deadline;
using holdfast::base::Result;
using holdfast::recipes::DegradableLock;
using holdfast::recipes::Protection;
using holdfast::recipes::WhenUnavailable;

// Joins the parts to a name, escaped so that different parts never give the same name.
std::string name_of(std::string_view kind, std::initializer_list<std::string_view> parts) {
  std::string name(kind);
  for (const std::string_view part : parts) {
    name += '/';
    for (const char c : part) {
      name += c == '/' ? "%2F" : c == '%' ? "%25" : std::string(1, c);
    }
  }
  return name;
}

std::string processing_key(std::string_view account, std::string_view file_hash) {
  return name_of("processing", {account, file_hash});
}

Result<Verdict> find(InvoiceTable& table, const Invoice& invoice) {
  const auto candidates = table.candidates(invoice);
  if (!candidates) {
    return std::unexpected(candidates.error());
  }
  Verdict verdict;
  for (const Invoice& candidate : *candidates) {
    const Match found = match(invoice, candidate);
    if (found == Match::exact) {
      return Verdict{.finding = Finding::exact, .duplicate_of = candidate};
    }
    if (found == Match::near && !verdict.duplicate_of) {
      verdict = {.finding = Finding::near, .duplicate_of = candidate};
    }
  }
  return verdict;
}

}  // namespace

struct DuplicateDetector::Locks {
  DegradableLock invoice;
  DegradableLock vendor;

  [[nodiscard]] Protection protection() const {
    return std::max(invoice.protection(), vendor.protection());  // the weaker
  }
  [[nodiscard]] Result<void> check() const {
    const auto first = invoice.check();
    return first ? vendor.check() : first;
  }
};

std::string_view to_string(Finding finding) noexcept {
  switch (finding) {
    case Finding::unique: return "unique";
    case Finding::exact: return "exact";
    case Finding::near: return "near";
    case Finding::concurrent: return "concurrent";
    case Finding::processing: return "processing";
  }
  return "unrecognised";
}

DuplicateDetector::DuplicateDetector(const std::shared_ptr<holdfast::store::LeaseStore>& store,
                                     DetectorOptions options)
    : options_(std::move(options)),
      store_(store),
      locks_(store, {.when_unavailable = options_.when_unavailable,
                     .provider = {.logger = options_.logger}}),
      processing_(store, {.logger = options_.logger}) {}

Result<std::optional<DuplicateDetector::Locks>> DuplicateDetector::lock(const Invoice& invoice) {
  const holdfast::base::Clock& clock = holdfast::base::steady_clock();
  const auto deadline = Deadline::after(clock, options_.wait);
  const std::string vendor = normalised_vendor(invoice.vendor);
  const std::array names = {name_of("invoice", {invoice.account, invoice.number, vendor}),
                            name_of("vendor", {invoice.account, vendor})};
  std::array<DegradableLock, names.size()> held;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto lock = locks_.try_acquire(names.at(i), {.wait = deadline.remaining(clock.now())});
    if (!lock) {
      return std::unexpected(std::move(lock).error());
    }
    if (!*lock) {
      return std::nullopt;
    }
    held.at(i) = **std::move(lock);
  }
  return Locks{std::move(held[0]), std::move(held[1])};
}

Result<Verdict> DuplicateDetector::check_for_duplicate(const Invoice& invoice) {
  const auto locks = lock(invoice);
  if (!locks) {
    return std::unexpected(locks.error());
  }
  if (!*locks) {
    return Verdict{.finding = Finding::concurrent};
  }
  auto table = InvoiceTable::open(options_.database);
  if (!table) {
    return std::unexpected(std::move(table).error());
  }
  auto verdict = find(*table, invoice);
  if (verdict) {
    verdict->protection = (*locks)->protection();
  }
  return verdict;
}

Result<Verdict> DuplicateDetector::add(const Invoice& invoice, std::string_view file_hash) {
  const auto mark =
      processing_.try_mark(processing_key(invoice.account, file_hash), options_.processing_ttl);
  if (!mark) {
    // A mark only avoids work, so a policy that proceeds without a lock proceeds without a mark.
    return options_.when_unavailable == WhenUnavailable::fail
               ? Result<Verdict>(std::unexpected(mark.error()))
               : add_marked(invoice, file_hash);
  }
  return *mark ? add_marked(invoice, file_hash) : Verdict{.finding = Finding::processing};
}

Result<void> DuplicateDetector::mark_processing(std::string_view user, std::string_view account,
                                                std::string_view file_hash) {
  holdfast::recipes::Marker of_user(store_,
                                    {.owner = std::string(user), .logger = options_.logger});
  return of_user.mark(processing_key(account, file_hash), options_.processing_ttl);
}

Result<bool> DuplicateDetector::is_processing(std::string_view account,
                                              std::string_view file_hash) {
  return processing_.is_marked(processing_key(account, file_hash));
}

Result<void> DuplicateDetector::clear_processing(std::string_view account,
                                                 std::string_view file_hash) {
  const auto cleared = processing_.clear(processing_key(account, file_hash));
  return cleared ? Result<void>() : std::unexpected(cleared.error());
}

Result<Verdict> DuplicateDetector::add_marked(const Invoice& invoice, std::string_view file_hash) {
  const auto locks = lock(invoice);
  if (!locks) {
    return std::unexpected(locks.error());
  }
  if (!*locks) {
    return Verdict{.finding = Finding::concurrent};
  }
  auto table = InvoiceTable::open(options_.database);
  if (!table) {
    return std::unexpected(std::move(table).error());
  }
  auto verdict = find(*table, invoice);
  if (!verdict) {
    return verdict;
  }
  verdict->protection = (*locks)->protection();
  if (verdict->finding != Finding::unique) {
    return verdict;
  }
  const holdfast::base::Clock& clock = holdfast::base::steady_clock();
  clock.sleep_until(clock.now() + options_.work, std::stop_token());
  if (auto still_held = (*locks)->check(); !still_held) {
    return std::unexpected(std::move(still_held).error());
  }
  if (auto stored = table->insert(invoice, file_hash); !stored) {
    return std::unexpected(std::move(stored).error());
  }
  return verdict;
}

}  // namespace invoices
