#include <holdfast/store/listings.h>

#include <utility>

namespace holdfast::store {

std::optional<Listing> Listings::take(std::string_view prefix, std::string_view after,
                                      base::TimePoint now) {
  const base::MutexLock lock(mutex_);
  forget_old(now);
  auto found = kept_.end();
  for (auto each = kept_.begin(); each != kept_.end(); ++each) {
    const bool is_it = each->listing.prefix == prefix && each->after == after;
    if (is_it && (found == kept_.end() || each->listing.began >= found->listing.began)) {
      found = each;
    }
  }
  if (found == kept_.end()) {
    return std::nullopt;
  }
  Listing listing = std::move(found->listing);
  kept_.erase(found);
  return listing;
}

void Listings::keep(Listing listing, std::string after, base::TimePoint now) {
  const base::MutexLock lock(mutex_);
  forget_old(now);
  if (listing.began == base::TimePoint()) {
    listing.began = now;
  }
  if (kept_.size() == kMost) {
    kept_.erase(kept_.begin());
  }
  kept_.push_back({.listing = std::move(listing), .after = std::move(after), .since = now});
}

void Listings::forget_old(base::TimePoint now) {
  std::erase_if(kept_, [&](const Kept& kept) { return now - kept.since > kKept; });
}

}  // namespace holdfast::store
