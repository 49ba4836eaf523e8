#include <holdfast/store/record_bytes.h>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/store/claim.h>

namespace holdfast::store {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr char kVersion = 1;

// Writes numbers as eight bytes, the lowest first, and texts behind their lengths.
class Writer {
 public:
  void number(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
      bytes_.push_back(static_cast<char>(value >> shift));
    }
  }
  void time(base::TimePoint value) {
    number(static_cast<std::uint64_t>(value.time_since_epoch().count()));
  }
  void id(const base::LeaseId& value) {
    number(value.high());
    number(value.low());
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }

  [[nodiscard]] std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_{kVersion};
};

// Reads what Writer wrote. After the first mistake every further value is empty, and ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {
    ok_ = !left_.empty() && left_.front() == kVersion;
    left_.remove_prefix(ok_ ? 1 : 0);
  }

  [[nodiscard]] std::uint64_t number() {
    const std::string_view bytes = take(8);
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i > 0; --i) {
      value = value << 8U | static_cast<unsigned char>(bytes[i - 1]);
    }
    return value;
  }
  [[nodiscard]] std::uint32_t small_number() {
    const std::uint64_t value = number();
    require(value <= std::numeric_limits<std::uint32_t>::max());
    return static_cast<std::uint32_t>(value);
  }
  // Two of these can be subtracted without overflow.
  [[nodiscard]] base::TimePoint time() {
    constexpr base::Duration kMost = base::Duration::max() / 2;
    const base::Duration value(static_cast<base::Duration::rep>(number()));
    require(value <= kMost && value >= -kMost);
    return base::TimePoint(value);
  }
  [[nodiscard]] base::LeaseId id() {
    const std::uint64_t high = number();
    return {high, number()};
  }
  [[nodiscard]] std::string text(std::size_t most) {
    const std::uint64_t size = number();
    require(size <= most);
    return std::string(take(ok_ ? static_cast<std::size_t>(size) : 0));
  }
  // Calls `read` as often as a number says that was written before. Every element has bytes of its
  // own, so a forged number ends with them.
  void repeat(std::invocable auto read) {
    for (std::uint64_t left = number(); left > 0 && ok_; --left) read();
  }

  void require(bool condition) noexcept { ok_ = ok_ && condition; }
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }

 private:
  std::string_view take(std::size_t size) {
    require(size <= left_.size());
    if (!ok_) return {};
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::string_view left_;
  bool ok_ = false;
};

// Reads one lease into the record.
void read_lease(Reader& reader, Record& record) {
  StoredLease lease{.id = reader.id(),
                    .owner = reader.text(Claim::kMaxOwner),
                    .reason = reader.text(Claim::kMaxReason),
                    .permits = reader.small_number(),
                    .token = base::FencingToken(reader.number()),
                    .granted = reader.time(),
                    .expires = reader.time()};
  reader.require(lease.permits >= 1 && lease.permits <= record.capacity &&
                 record.leases.used() + lease.permits <= record.capacity &&
                 lease.token.value() <= record.last_token &&
                 record.leases.find(lease.id) == nullptr);
  if (reader.ok()) record.leases.insert(std::move(lease));
}

}  // namespace

std::string to_bytes(const Record& record) {
  Writer writer;
  writer.number(record.last_token);
  writer.number(record.capacity);
  writer.number(record.leases.size());
  for (const StoredLease& lease : record.leases) {
    writer.id(lease.id);
    writer.text(lease.owner);
    writer.text(lease.reason);
    writer.number(lease.permits);
    writer.number(lease.token.value());
    writer.time(lease.granted);
    writer.time(lease.expires);
  }
  writer.number(record.waits.size());
  for (const StoredWait& wait : record.waits) {
    writer.id(wait.id);
    writer.number(wait.permits);
    writer.time(wait.until);
  }
  writer.number(record.hits);
  writer.time(record.window_ends);
  writer.number(record.log.size());
  for (const StoredHits& hits : record.log) {
    writer.time(hits.ends);
    writer.number(hits.count);
  }
  return std::move(writer).take();
}

Result<Record> record_of(std::string_view bytes) {
  Reader reader(bytes);
  Record record{.last_token = reader.number(), .capacity = reader.small_number(), .leases = {}};
  reader.repeat([&] { read_lease(reader, record); });
  reader.repeat([&] {
    record.waits.push_back(
        {.id = reader.id(), .permits = reader.small_number(), .until = reader.time()});
  });
  record.hits = reader.small_number();
  record.window_ends = reader.time();
  reader.repeat(
      [&] { record.log.push_back({.ends = reader.time(), .count = reader.small_number()}); });
  reader.require(record.capacity >= 1 && reader.at_end());
  if (!reader.ok()) return fail(ErrorCode::corrupt, "the value is not a record of Holdfast");
  return record;
}

}  // namespace holdfast::store
