#include <holdfast/engines/sqlite/internal/lease_codec.h>

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <holdfast/store/claim.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using store::Claim;
using store::Record;
using store::StoredHits;
using store::StoredLease;
using store::StoredWait;

constexpr char kLeasesOnly = 1;
constexpr char kAll = 2;
constexpr char kLeasesElsewhere = 3;

template <std::integral Number>
void put(std::string& bytes, Number number) {
  auto rest = static_cast<std::make_unsigned_t<Number>>(number);
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes += static_cast<char>(rest & 0xffU);
    rest = static_cast<decltype(rest)>(rest >> 8U);
  }
}

// Reads from the front. Past the end it yields zeros and remembers.
class Reader {
 public:
  explicit Reader(std::string_view bytes) noexcept : rest_(bytes) {}

  template <std::integral Number>
  Number number() {
    std::make_unsigned_t<Number> value = 0;
    const std::string_view bytes = text(sizeof(Number));
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = static_cast<decltype(value)>((value << 8U) | static_cast<unsigned char>(bytes[i]));
    }
    return static_cast<Number>(value);
  }

  std::string_view text(std::size_t size) {
    if (size > rest_.size()) {
      short_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }
  [[nodiscard]] bool is_short() const noexcept { return short_; }

 private:
  std::string_view rest_;
  bool short_ = false;
};

base::LeaseId read_id(Reader& reader) {
  const auto high = reader.number<std::uint64_t>();
  const auto low = reader.number<std::uint64_t>();
  return {high, low};
}

base::TimePoint read_time(Reader& reader) {
  return base::TimePoint(base::Duration(reader.number<std::int64_t>()));
}

StoredLease read_lease(Reader& reader) {
  const base::LeaseId id = read_id(reader);
  StoredLease lease{.id = id,
                    .owner = {},
                    .reason = {},
                    .token = base::FencingToken(reader.number<std::uint64_t>()),
                    .granted = read_time(reader),
                    .expires = read_time(reader)};
  lease.permits = reader.number<std::uint32_t>();
  const auto owner = reader.number<std::uint16_t>();
  const auto reason = reader.number<std::uint16_t>();
  lease.owner = reader.text(owner);
  lease.reason = reader.text(reason);
  return lease;
}

bool is_sound_wait(const StoredWait& wait, const Record& record) {
  return !wait.id.is_nil() && wait.permits != 0 && wait.permits <= record.capacity;
}

void put(std::string& bytes, const base::LeaseId& id) {
  put(bytes, id.high());
  put(bytes, id.low());
}

void put(std::string& bytes, base::TimePoint time) { put(bytes, time.time_since_epoch().count()); }

void put_waits_and_log(std::string& bytes, const Record& record) {
  put(bytes, static_cast<std::uint16_t>(record.waits.size()));
  for (const StoredWait& wait : record.waits) {
    put(bytes, wait.id);
    put(bytes, wait.until);
    put(bytes, wait.permits);
  }
  put(bytes, static_cast<std::uint16_t>(record.log.size()));
  for (const StoredHits& hits : record.log) {
    put(bytes, hits.ends);
    put(bytes, hits.count);
  }
}

// Returns whether they are sound.
bool read_waits_and_log(Reader& reader, Record& record) {
  bool sound = true;
  for (auto left = reader.number<std::uint16_t>(); left > 0 && sound; --left) {
    const base::LeaseId id = read_id(reader);
    const base::TimePoint until = read_time(reader);
    record.waits.push_back({.id = id, .permits = reader.number<std::uint32_t>(), .until = until});
    sound = !reader.is_short() && is_sound_wait(record.waits.back(), record) &&
            record.waits.size() <= Claim::kMaxWaiting;
  }
  for (auto left = reader.number<std::uint16_t>(); left > 0 && sound; --left) {
    const base::TimePoint ends = read_time(reader);
    const bool in_order = record.log.empty() || record.log.back().ends < ends;
    record.log.push_back({.ends = ends, .count = reader.number<std::uint32_t>()});
    sound = !reader.is_short() && in_order && record.log.back().count != 0;
  }
  return sound && !reader.is_short();
}

bool read_leases(Reader& reader, Record& record) {
  bool sound = true;
  while (sound && !reader.at_end()) {
    const StoredLease& lease = record.leases.insert(read_lease(reader));
    sound =
        !reader.is_short() && is_sound(lease, record) && record.leases.used() <= record.capacity;
  }
  return sound;
}

// Returns whether it is sound.
bool read_all(char format, Reader& reader, Record& record) {
  switch (format) {
    case kLeasesOnly: return !reader.at_end() && read_leases(reader, record);
    case kAll:
      return read_waits_and_log(reader, record) && !(record.waits.empty() && record.log.empty()) &&
             read_leases(reader, record);
    case kLeasesElsewhere:
      record.leases.set_rest({.permits = reader.number<std::uint64_t>()});
      return record.leases.used() > 0 && record.leases.used() <= record.capacity &&
             record.capacity > 1 && read_waits_and_log(reader, record) && reader.at_end();
    default: return false;
  }
}

}  // namespace

bool is_sound(const StoredLease& lease, const Record& record) {
  return !lease.id.is_nil() && !lease.owner.empty() && lease.owner.size() <= Claim::kMaxOwner &&
         lease.reason.size() <= Claim::kMaxReason && lease.token.value() != 0 &&
         lease.token.value() <= record.last_token && lease.permits != 0 &&
         lease.granted.time_since_epoch().count() >= 0 && lease.granted < lease.expires;
}

void encode_leases(const Record& record, std::string& bytes) {
  bytes.clear();
  if (!record.waits.empty() || !record.log.empty()) {
    bytes += kAll;
    put_waits_and_log(bytes, record);
  } else if (!record.leases.empty()) {
    bytes += kLeasesOnly;
  }
  for (const StoredLease& lease : record.leases) {
    put(bytes, lease.id);
    put(bytes, lease.token.value());
    put(bytes, lease.granted);
    put(bytes, lease.expires);
    put(bytes, lease.permits);
    put(bytes, static_cast<std::uint16_t>(lease.owner.size()));
    put(bytes, static_cast<std::uint16_t>(lease.reason.size()));
    bytes += lease.owner;
    bytes += lease.reason;
  }
}

void encode_without_leases(const Record& record, std::string& bytes) {
  if (record.leases.used() == 0) {
    encode_leases(record, bytes);
    return;
  }
  bytes.clear();
  bytes += kLeasesElsewhere;
  put(bytes, record.leases.used());
  put_waits_and_log(bytes, record);
}

base::Result<void> decode_leases(std::string_view bytes, Record& record) {
  record.leases.clear();
  record.waits.clear();
  record.log.clear();
  if (bytes.empty()) {
    return {};
  }
  Reader reader(bytes.substr(1));
  if (!read_all(bytes.front(), reader, record)) {
    record.leases.clear();
    record.waits.clear();
    record.log.clear();
    return base::fail(base::ErrorCode::corrupt, "its leases cannot be read");
  }
  return {};
}

}  // namespace holdfast::engines::sqlite::internal
