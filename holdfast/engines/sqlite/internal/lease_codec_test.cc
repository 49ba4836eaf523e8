#include <holdfast/engines/sqlite/internal/lease_codec.h>

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::engines::sqlite::internal {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using store::Record;
using store::StoredLease;

StoredLease lease(std::uint64_t token, std::string owner, std::string reason) {
  return {.id = base::LeaseId(token, 0xfedcba9876543210U),
          .owner = std::move(owner),
          .reason = std::move(reason),
          .permits = 2,
          .token = base::FencingToken(token),
          .granted = base::TimePoint(3s),
          .expires = base::TimePoint(90h)};
}

Record sample() {
  return {.last_token = 1'700'000'000'000'000,
          .capacity = 7,
          .leases = {lease(1, "a", ""), lease(1'700'000'000'000'000, std::string(256, '\xff'),
                                              std::string(1024, '\0'))}};
}

std::string encoded(const Record& record) {
  std::string bytes = "what was there before";
  encode_leases(record, bytes);
  return bytes;
}

// Decodes into a record with the sample's numbers.
base::Result<Record> decoded(std::string_view bytes) {
  Record record = sample();
  if (auto done = decode_leases(bytes, record); !done) {
    return std::unexpected(done.error());
  }
  return record;
}

TEST(LeaseCodec, WhatIsWrittenIsRead) { EXPECT_EQ(decoded(encoded(sample())), sample()); }

// Also with claims that wait, and with a sliding window.
Record full_sample() {
  Record record = sample();
  record.waits = {{.id = base::LeaseId(9, 9), .permits = 7, .until = base::TimePoint(5s)},
                  {.id = base::LeaseId(8, 8), .permits = 1, .until = base::TimePoint(4s)}};
  record.log = {{.ends = base::TimePoint(6s), .count = 3},
                {.ends = base::TimePoint(7s), .count = 1}};
  return record;
}

TEST(LeaseCodec, WaitsAndHitsAreWrittenAndReadWithAndWithoutLeases) {
  Record record = full_sample();
  EXPECT_EQ(decoded(encoded(record)), record);
  record.leases.clear();
  EXPECT_EQ(decoded(encoded(record)), record);
  record.waits.clear();
  EXPECT_EQ(decoded(encoded(record)), record);
}

TEST(LeaseCodec, WaitsAndHitsThatCannotBeAreCorrupt) {
  const auto code_with = [](auto change) {
    Record record = full_sample();
    change(record);
    const auto result = decoded(encoded(record));
    return result ? ErrorCode::internal : result.error().code;
  };
  EXPECT_EQ(code_with([](Record& it) { it.waits[0].id = {}; }), ErrorCode::corrupt);
  EXPECT_EQ(code_with([](Record& it) { it.waits[0].permits = 8; }), ErrorCode::corrupt);
  EXPECT_EQ(code_with([](Record& it) { it.waits[0].permits = 0; }), ErrorCode::corrupt);
  EXPECT_EQ(code_with([](Record& it) { it.waits.resize(9, it.waits[0]); }), ErrorCode::corrupt);
  EXPECT_EQ(code_with([](Record& it) { it.log[0].count = 0; }), ErrorCode::corrupt);
  EXPECT_EQ(code_with([](Record& it) { it.log[0].ends = it.log[1].ends; }), ErrorCode::corrupt);
  std::string bytes = encoded(full_sample());
  for (std::size_t size = 1; size < 1 + 2 + 2 * 28 + 2 + 2 * 12; ++size) {
    EXPECT_EQ(decoded(bytes.substr(0, size)).error().code, ErrorCode::corrupt) << size;
  }
  EXPECT_EQ(decoded(std::string("\x02\0\0\0\0", 5)).error().code, ErrorCode::corrupt);
}

std::string encoded_without_leases(const Record& record) {
  std::string bytes = "what was there before";
  encode_without_leases(record, bytes);
  return bytes;
}

TEST(LeaseCodec, LeasesThatAreElsewhereAreCounted) {
  for (Record record : {sample(), full_sample()}) {
    const std::string bytes = encoded_without_leases(record);
    EXPECT_EQ(bytes.front(), 3) << "programs that know version 1 only must not read it";
    record.leases.clear();
    record.leases.set_rest({.permits = 4});
    EXPECT_EQ(decoded(bytes), record);
    record.leases.clear();
    EXPECT_EQ(encoded_without_leases(record), encoded(record));
  }
}

TEST(LeaseCodec, ACountOfLeasesThatCannotBeIsCorrupt) {
  const std::string good = encoded_without_leases(full_sample());
  for (const char count : {'\0', '\x8'}) {
    std::string bad = good;
    bad[1] = count;
    EXPECT_EQ(decoded(bad).error().code, ErrorCode::corrupt) << int{count};
  }
  EXPECT_EQ(decoded(good + '\0').error().code, ErrorCode::corrupt);
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_EQ(decoded(good.substr(0, size)).error().code, ErrorCode::corrupt) << size;
  }
}

TEST(LeaseCodec, NoLeasesAreNoBytes) {
  Record record = sample();
  record.leases.clear();
  EXPECT_EQ(encoded(record), "");
  EXPECT_EQ(decoded(""), record);
}

TEST(LeaseCodec, TheBytesAreTheSameOnEveryMachine) {
  Record record{.last_token = 0x0807060504030201,
                .leases = {{.id = base::LeaseId(0x1817161514131211, 0x2827262524232221),
                            .owner = "me",
                            .reason = "!",
                            .permits = 0x34333231,
                            .token = base::FencingToken(0x0807060504030201),
                            .granted = base::TimePoint(base::Duration(1)),
                            .expires = base::TimePoint(base::Duration(2))}}};
  EXPECT_EQ(encoded(record),
            std::string("\x01\x11\x12\x13\x14\x15\x16\x17\x18\x21\x22\x23\x24\x25\x26\x27\x28"
                        "\x01\x02\x03\x04\x05\x06\x07\x08"
                        "\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x31\x32\x33\x34\x02\0\x01\0me!",
                        1 + 16 + 8 + 8 + 8 + 4 + 2 + 2 + 3));
}

TEST(LeaseCodec, BytesThatAreCutOffOrGoOnAreCorrupt) {
  Record one = sample();
  one.leases.erase(one.leases.back().id);
  const std::string bytes = encoded(one);
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_EQ(decoded(bytes.substr(0, size)).error().code, ErrorCode::corrupt) << size;
  }
  EXPECT_EQ(decoded(bytes + '\0').error().code, ErrorCode::corrupt);
}

TEST(LeaseCodec, LeasesThatCannotBeAreCorrupt) {
  const auto code_with = [](auto change) {
    Record record = sample();
    StoredLease last = record.leases.back();
    record.leases.erase(last.id);
    change(last);
    record.leases.insert(last);
    const auto result = decoded(encoded(record));
    return result ? ErrorCode::internal : result.error().code;
  };
  EXPECT_EQ(code_with([](StoredLease& it) { it.id = {}; }), ErrorCode::corrupt);
  EXPECT_EQ(code_with([](StoredLease& it) { it.owner.clear(); }), ErrorCode::corrupt);
  EXPECT_EQ(code_with([](StoredLease& it) { it.owner += 'x'; }), ErrorCode::corrupt);
  EXPECT_EQ(code_with([](StoredLease& it) { it.reason += 'x'; }), ErrorCode::corrupt);
  EXPECT_EQ(code_with([](StoredLease& it) { it.permits = 0; }), ErrorCode::corrupt);
  EXPECT_EQ(code_with([](StoredLease& it) { it.permits = 6; }), ErrorCode::corrupt);
  EXPECT_EQ(code_with([](StoredLease& it) { it.token = base::FencingToken(0); }),
            ErrorCode::corrupt);
  EXPECT_EQ(code_with([](StoredLease& it) { it.token = base::FencingToken(it.token.value() + 1); }),
            ErrorCode::corrupt);
  EXPECT_EQ(code_with([](StoredLease& it) { it.expires = it.granted; }), ErrorCode::corrupt);
  EXPECT_EQ(code_with([](StoredLease& it) { it.granted = base::TimePoint(-1ns); }),
            ErrorCode::corrupt);
}

TEST(LeaseCodec, AnyBytesAreEitherReadOrCorrupt) {
  std::mt19937 random(4711);
  const std::string good[] = {encoded(sample()), encoded(full_sample())};
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good[i % 2];
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (const auto record = decoded(bytes)) {
      EXPECT_EQ(encoded(*record), bytes);
    } else {
      EXPECT_EQ(record.error().code, ErrorCode::corrupt);
    }
  }
}

}  // namespace
}  // namespace holdfast::engines::sqlite::internal
