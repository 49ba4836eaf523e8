#include <holdfast/engines/sqlite/internal/lease_codec.h>

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <holdfast/store/claim.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using store::Claim;
using store::Record;
using store::StoredLease;

constexpr char kFormat = 1;

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

StoredLease read_lease(Reader& reader) {
  const auto high = reader.number<std::uint64_t>();
  const auto low = reader.number<std::uint64_t>();
  StoredLease lease{.id = base::LeaseId(high, low),
                    .owner = {},
                    .reason = {},
                    .token = base::FencingToken(reader.number<std::uint64_t>()),
                    .granted = base::TimePoint(base::Duration(reader.number<std::int64_t>())),
                    .expires = base::TimePoint(base::Duration(reader.number<std::int64_t>()))};
  lease.permits = reader.number<std::uint32_t>();
  const auto owner = reader.number<std::uint16_t>();
  const auto reason = reader.number<std::uint16_t>();
  lease.owner = reader.text(owner);
  lease.reason = reader.text(reason);
  return lease;
}

bool is_sound(const StoredLease& lease, const Record& record) {
  return !lease.id.is_nil() && !lease.owner.empty() && lease.owner.size() <= Claim::kMaxOwner &&
         lease.reason.size() <= Claim::kMaxReason && lease.token.value() != 0 &&
         lease.token.value() <= record.last_token && lease.permits != 0 &&
         lease.granted.time_since_epoch().count() >= 0 && lease.granted < lease.expires;
}

}  // namespace

void encode_leases(const Record& record, std::string& bytes) {
  bytes.clear();
  if (record.leases.empty()) {
    return;
  }
  bytes += kFormat;
  for (const StoredLease& lease : record.leases) {
    put(bytes, lease.id.high());
    put(bytes, lease.id.low());
    put(bytes, lease.token.value());
    put(bytes, lease.granted.time_since_epoch().count());
    put(bytes, lease.expires.time_since_epoch().count());
    put(bytes, lease.permits);
    put(bytes, static_cast<std::uint16_t>(lease.owner.size()));
    put(bytes, static_cast<std::uint16_t>(lease.reason.size()));
    bytes += lease.owner;
    bytes += lease.reason;
  }
}

base::Result<void> decode_leases(std::string_view bytes, Record& record) {
  record.leases.clear();
  if (bytes.empty()) {
    return {};
  }
  Reader reader(bytes.substr(1));
  bool sound = bytes.front() == kFormat;
  std::uint64_t permits = 0;
  while (sound && !reader.at_end()) {
    record.leases.push_back(read_lease(reader));
    permits += record.leases.back().permits;
    sound =
        !reader.is_short() && is_sound(record.leases.back(), record) && permits <= record.capacity;
  }
  if (!sound || record.leases.empty()) {
    record.leases.clear();
    return base::fail(base::ErrorCode::corrupt, "its leases cannot be read");
  }
  return {};
}

}  // namespace holdfast::engines::sqlite::internal
