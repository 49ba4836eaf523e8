#include <holdfast/engines/mongodb/internal/record_codec.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include <holdfast/base/percent.h>
#include <holdfast/base/try.h>

namespace holdfast::engines::mongodb::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using store::Record;
using store::StoredLease;

constexpr std::string_view kList = "holdfast";
constexpr std::string_view kReleased = "released";

// The most bytes shown of the text of another program's lock; longer owners are cut.
constexpr std::size_t kOwnerShown = store::Claim::kMaxOwner;

base::TimePoint time_point(Date date) {
  constexpr std::int64_t kMost = base::Duration::max().count() / 1'000'000;
  return base::TimePoint(
      std::chrono::milliseconds(std::clamp<std::int64_t>(date.milliseconds, -kMost, kMost)));
}

std::unexpected<base::Error> strange() {
  return fail(ErrorCode::conflict,
              "a document of that name is not a lock; it is left as it is: choose another name, a "
              "prefix, or a collection of its own");
}

// Id, owner and reason, or all of it as the owner if it is somebody else's.
void read_lock_id(std::string_view text, StoredLease& lease) {
  if (text.size() > base::LeaseId::kTextSize && text[base::LeaseId::kTextSize] == ' ') {
    const auto id = base::LeaseId::parse(text.substr(0, base::LeaseId::kTextSize));
    const std::string_view rest = text.substr(base::LeaseId::kTextSize + 1);
    const std::size_t space = rest.find(' ');
    if (id && space != std::string_view::npos) {
      auto owner = base::percent_decode(rest.substr(0, space));
      auto reason = base::percent_decode(rest.substr(space + 1));
      if (owner && reason) {
        lease.id = *id;
        lease.owner = *std::move(owner);
        lease.reason = *std::move(reason);
        return;
      }
    }
  }
  lease.owner = text.substr(0, kOwnerShown);
}

std::unexpected<base::Error> out_of_range(std::string_view field) {
  return fail(ErrorCode::corrupt,
              "the number '" + std::string(field) + "' of the record is out of range");
}

// Returns a whole number of the document that is within these bounds.
Result<std::int64_t> number_of(const BsonValue& document, std::string_view field,
                               std::int64_t least, std::int64_t most) {
  const auto value = document.find(field);
  const auto number = value ? value->integer() : std::nullopt;
  if (!number) {
    return strange();
  }
  if (*number < least || *number > most) {
    return out_of_range(field);
  }
  return *number;
}

// Returns a number of permits or hits.
Result<std::uint32_t> count_of(const BsonValue& document, std::string_view field,
                               std::int64_t least) {
  HOLDFAST_TRY_LET(const auto number,
                   number_of(document, field, least, std::numeric_limits<std::uint32_t>::max()));
  return static_cast<std::uint32_t>(number);
}

Result<std::uint64_t> token_of(const BsonValue& document, std::string_view field) {
  HOLDFAST_TRY_LET(const auto number,
                   number_of(document, field, 0, std::numeric_limits<std::int64_t>::max()));
  return static_cast<std::uint64_t>(number);
}

Result<StoredLease> lease_of(const BsonValue& element) {
  const auto text = element.find("lockId");
  const auto granted = element.find("granted");
  const auto expires = element.find("expires");
  if (!text || !text->text() || !granted || !granted->date() || !expires || !expires->date()) {
    return strange();
  }
  HOLDFAST_TRY_LET(const auto permits, count_of(element, "permits", 1));
  HOLDFAST_TRY_LET(const auto token, token_of(element, "token"));
  StoredLease lease{.id = {},
                    .owner = {},
                    .reason = {},
                    .permits = permits,
                    .token = base::FencingToken(token),
                    .granted = time_point(*granted->date()),
                    .expires = time_point(*expires->date())};
  read_lock_id(*text->text(), lease);
  return lease;
}

Result<store::StoredWait> wait_of(const BsonValue& element) {
  const auto id = element.find("id");
  const auto until = element.find("until");
  if (!id || !id->text() || !until || !until->date()) {
    return strange();
  }
  const auto parsed = base::LeaseId::parse(*id->text());
  if (!parsed) {
    return strange();
  }
  HOLDFAST_TRY_LET(const auto permits, count_of(element, "permits", 1));
  return store::StoredWait{.id = *parsed, .permits = permits, .until = time_point(*until->date())};
}

Result<store::StoredHits> hits_of(const BsonValue& element, std::string_view count_name) {
  constexpr std::int64_t kMost = base::Duration::max().count() / 1'000;
  const auto ends = element.find("ends");
  if (!ends || !ends->integer()) {
    return strange();
  }
  HOLDFAST_TRY_LET(const auto count, count_of(element, count_name, 0));
  const std::chrono::microseconds at(std::clamp(*ends->integer(), -kMost, kMost));
  return store::StoredHits{.ends = base::TimePoint(at), .count = count};
}

// Calls `add` with each element of an array, as `read` reads it. No array is an empty one.
template <class Read, class Add>
Result<void> read_all(const BsonValue& document, std::string_view key, const Read& read,
                      const Add& add) {
  const auto array = document.find(key);
  if (!array) {
    return {};
  }
  auto elements = array->is_array() ? array->elements() : std::nullopt;
  if (!elements) {
    return strange();
  }
  while (const auto value = elements->next()) {
    HOLDFAST_TRY_LET(auto element, read(*value));
    add(std::move(element));
  }
  return {};
}

// Reads the fields that only Holdfast's own documents have.
Result<void> read_list(const BsonValue& document, Record& record) {
  const auto capacity = count_of(document, "capacity", 0);  // none is leased: 0
  if (!capacity) {
    return std::unexpected(capacity.error());
  }
  record.capacity = *capacity;
  const auto in_log = [](const BsonValue& element) { return hits_of(element, "count"); };
  const auto add_lease = [&](StoredLease lease) { record.leases.insert(std::move(lease)); };
  const auto add_wait = [&](store::StoredWait wait) { record.waits.push_back(wait); };
  const auto add_hits = [&](store::StoredHits hits) { record.log.push_back(hits); };
  for (const auto& done : {read_all(document, "leases", lease_of, add_lease),
                           read_all(document, "waits", wait_of, add_wait),
                           read_all(document, "log", in_log, add_hits)}) {
    if (!done) {
      return done;
    }
  }
  if (const auto window = document.find("window")) {
    HOLDFAST_TRY_LET(const auto hits, hits_of(*window, "hits"));
    record.hits = hits.count;
    record.window_ends = hits.ends;
  }
  return {};
}

}  // namespace

std::string lock_id_prefix(const base::LeaseId& id) { return to_string(id) + " "; }

std::string lock_id(const base::LeaseId& id, std::string_view owner, std::string_view reason) {
  return lock_id_prefix(id) + base::percent_encode(owner) + " " + base::percent_encode(reason);
}

std::string tombstone_lock_id(const base::LeaseId& id) {
  return std::string(kReleased) + " " + to_string(id);
}

store::Instant instant_of(Date now) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 1000;
  const std::int64_t milliseconds = std::clamp<std::int64_t>(now.milliseconds, 0, kMost);
  return {.time = time_point(now), .token_floor = static_cast<std::uint64_t>(milliseconds) * 1000};
}

Result<Record> record_of(const BsonValue& document) {
  const auto text = document.find("lockId");
  const auto expires = document.find("expiresAt");
  if (!text || !text->text() || !expires || !expires->date()) {
    return strange();
  }
  HOLDFAST_TRY_LET(const auto token, token_of(document, "fencingToken"));
  Record record;
  record.last_token = token;
  if (*text->text() == kList) {
    HOLDFAST_TRY(read_list(document, record));
    return record;
  }
  if (*text->text() == kReleased || text->text()->starts_with(std::string(kReleased) + " ")) {
    return record;
  }
  const auto granted = document.find("acquiredAt");
  StoredLease lease{.id = {},
                    .owner = {},
                    .reason = {},
                    .token = base::FencingToken(record.last_token),
                    .granted = time_point(granted && granted->date() ? *granted->date() : Date{}),
                    .expires = time_point(*expires->date())};
  read_lock_id(*text->text(), lease);
  record.leases.insert(std::move(lease));
  return record;
}

bool was_released_last(const BsonValue& document, const base::LeaseId& id) {
  const auto text = document.find("lockId");
  const auto freed = document.find("freed");
  return (text && text->text() == tombstone_lock_id(id)) ||
         (freed && freed->text() == to_string(id));
}

}  // namespace holdfast::engines::mongodb::internal
