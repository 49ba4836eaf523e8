#include <algorithm>
#include <chrono>

#include <holdfast/base/saturate.h>
#include <holdfast/store/forget_hits.h>
#include <holdfast/store/internal/live.h>
#include <holdfast/store/lease_rules.h>

namespace holdfast::store::lease_rules {

namespace {

using base::Duration;
using base::ErrorCode;
using base::fail;
using base::TimePoint;

// Returns how many must fit for the hit to be allowed: one for a caller that only looks.
std::uint64_t wanted(const Hit& hit) noexcept { return std::max<std::uint64_t>(hit.count, 1); }

HitOutcome outcome(const Hit& hit, std::uint64_t hits, Duration resets_in, Duration retry_after) {
  return {.allowed = retry_after == Duration::zero(),
          .hits = static_cast<std::uint32_t>(hits),
          .remaining = hits < hit.limit ? static_cast<std::uint32_t>(hit.limit - hits) : 0,
          .resets_in = resets_in,
          .retry_after = retry_after};
}

HitOutcome hit_fixed(Record& record, const Hit& hit, const Instant& now) {
  const bool is_live = internal::has_live_fixed_window(record, now);
  const std::uint64_t before = is_live ? record.hits : 0;
  const TimePoint ends =
      is_live ? record.window_ends : base::add_saturating(now.time, hit.period.unchecked());
  if (before + wanted(hit) > hit.limit) {
    return outcome(hit, before, ends - now.time, ends - now.time);
  }
  if (hit.count > 0) {
    record.hits = static_cast<std::uint32_t>(before + hit.count);
    record.window_ends = ends;
    record.log.clear();
  }
  const bool counts = is_live || hit.count > 0;
  return outcome(hit, before + hit.count, counts ? ends - now.time : Duration::zero(), {});
}

std::uint64_t count_of(const std::vector<StoredHits>& log) noexcept {
  std::uint64_t hits = 0;
  for (const StoredHits& each : log) {
    hits += each.count;
  }
  return hits;
}

// Returns by how much too long a hit may count, so that the log stays short.
Duration slack_of(const Hit& hit) {
  using std::chrono::microseconds;
  return hit.limit <= Hit::kSteps
             ? microseconds::zero()
             : std::chrono::duration_cast<microseconds>(hit.period.unchecked()) / Hit::kSteps;
}

// Beside hits that end a little later, or as the first of those that will. Where the log is full,
// because hits came with ever other periods, they end with the next.
void add(std::vector<StoredHits>& log, const Hit& hit, const Instant& now) {
  constexpr std::size_t kLongest = std::size_t{4} * Hit::kSteps;
  const TimePoint ends = base::add_saturating(now.time, hit.period.unchecked());
  const TimePoint latest = base::add_saturating(ends, slack_of(hit));
  const auto place = std::ranges::lower_bound(log, ends, {}, &StoredHits::ends);
  const bool is_there = place != log.end() && place->ends <= latest;
  if (!is_there && log.size() < kLongest) {
    log.insert(place, {.ends = latest, .count = hit.count});
  } else if (place != log.end()) {
    place->count += hit.count;
  } else {
    log.back() = {.ends = latest, .count = log.back().count + hit.count};
  }
}

// Until so many have stopped counting that the hit fits.
Duration retry_after(const std::vector<StoredHits>& log, const Hit& hit, const Instant& now) {
  std::uint64_t hits = count_of(log);
  for (const StoredHits& each : log) {
    hits -= each.count;
    if (hits + wanted(hit) <= hit.limit) {
      return each.ends - now.time;
    }
  }
  return Duration::zero();
}

HitOutcome hit_sliding(Record& record, const Hit& hit, const Instant& now) {
  std::vector<StoredHits>& log = record.log;
  std::erase_if(log, [&](const StoredHits& each) { return !internal::is_live(each, now); });
  const std::uint64_t before = count_of(log);
  if (before + wanted(hit) > hit.limit) {
    return outcome(hit, before, log.back().ends - now.time, retry_after(log, hit, now));
  }
  if (hit.count > 0) {
    record.hits = 0;
    add(log, hit, now);
  }
  return outcome(hit, before + hit.count,
                 log.empty() ? Duration::zero() : log.back().ends - now.time, {});
}

HitOutcome forget(Record& record, const Hit& hit, const Instant& now) {
  std::erase_if(record.log, [&](const StoredHits& each) { return !internal::is_live(each, now); });
  const std::uint64_t before =
      internal::has_live_fixed_window(record, now) ? record.hits : count_of(record.log);
  record.hits = 0;
  record.log.clear();
  return outcome(hit, before, {}, {});
}

}  // namespace

base::Result<HitOutcome> hit(Record& record, const Hit& hit, const Instant& now) {
  if (internal::has_live_lease(record, now)) {
    return fail(ErrorCode::conflict, "the name is leased: it cannot count hits at the same time");
  }
  if (forgets(hit)) {
    return forget(record, hit, now);
  }
  if (hit.window == Window::fixed) {
    if (internal::has_live_sliding_window(record, now)) {
      return fail(ErrorCode::conflict,
                  "the name counts hits in a sliding window: it cannot have a fixed one, too");
    }
    return hit_fixed(record, hit, now);
  }
  if (internal::has_live_fixed_window(record, now)) {
    return fail(ErrorCode::conflict,
                "the name counts hits in a fixed window: it cannot have a sliding one, too");
  }
  return hit_sliding(record, hit, now);
}

}  // namespace holdfast::store::lease_rules
