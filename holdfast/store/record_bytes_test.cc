#include <holdfast/store/record_bytes.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/store/claim.h>

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
using base::FencingToken;
using base::LeaseId;
using base::TimePoint;

StoredLease lease(std::uint64_t id, std::uint64_t token) {
  return {.id = LeaseId(7, id),
          .owner = "me@here",
          .reason = std::string("with\0zero", 9),
          .permits = 2,
          .token = FencingToken(token),
          .granted = TimePoint(5s),
          .expires = TimePoint(35s)};
}

Record full_record() {
  return {.last_token = 900,
          .capacity = 5,
          .leases = {lease(1, 800), lease(2, 900)},
          .waits = {{.id = LeaseId(7, 3), .permits = 5, .until = TimePoint(9s)}},
          .hits = 3,
          .window_ends = TimePoint(60s),
          .log = {{.ends = TimePoint(7s), .count = 4}, {.ends = TimePoint(8s), .count = 1}}};
}

bool is_corrupt(std::string_view bytes) {
  const auto record = record_of(bytes);
  return !record && record.error().code == base::ErrorCode::corrupt;
}

TEST(RecordBytes, ARecordComesBackAsItWas) {
  EXPECT_EQ(record_of(to_bytes(full_record())), full_record());
  EXPECT_EQ(record_of(to_bytes(Record{})), Record{});
}

TEST(RecordBytes, EveryShorterTextIsCorruptAndSoIsALongerOne) {
  const std::string bytes = to_bytes(full_record());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(is_corrupt(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_TRUE(is_corrupt(bytes + "x"));
}

TEST(RecordBytes, AnotherVersionIsCorrupt) {
  std::string bytes = to_bytes(full_record());
  bytes[0] = 2;
  EXPECT_TRUE(is_corrupt(bytes));
}

TEST(RecordBytes, ARecordThatBreaksItsOwnRulesIsCorrupt) {
  const auto corrupt_after = [](auto change) {
    Record record = full_record();
    change(record);
    return is_corrupt(to_bytes(record));
  };

  EXPECT_TRUE(corrupt_after([](Record& record) { record.capacity = 3; }));
  EXPECT_TRUE(corrupt_after([](Record& record) { record.last_token = 899; }));
  EXPECT_TRUE(corrupt_after([](Record& record) { record.leases.insert(lease(2, 850)); }));
  EXPECT_TRUE(corrupt_after([](Record& record) { record.window_ends = TimePoint::max(); }));
  EXPECT_TRUE(corrupt_after([](Record& record) {
    StoredLease none = lease(4, 850);
    none.permits = 0;
    record.leases = {none};
  }));
}

TEST(RecordBytes, ALengthThatWasForgedAllocatesNothing) {
  Record record = full_record();
  std::string bytes = to_bytes(record);
  // The length of the first owner is behind the version, the token, the capacity, the number of
  // leases and an id.
  for (std::size_t i = 0; i < 8; ++i) bytes[1 + 3 * 8 + 16 + i] = '\x7f';
  EXPECT_TRUE(is_corrupt(bytes));
}

}  // namespace
}  // namespace holdfast::store
