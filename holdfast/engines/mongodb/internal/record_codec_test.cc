#include <holdfast/engines/mongodb/internal/record_codec.h>

#include <gtest/gtest.h>

namespace holdfast::engines::mongodb::internal {
namespace {

using base::ErrorCode;

base::Result<store::Record> read(const std::string& json) {
  Bson holder;
  holder.add("document", Bson::parse(json));
  return record_of(*holder.find("document"));
}

const base::LeaseId kId{1, 2};
const std::string kText = "00000000000000010000000000000002";

TEST(RecordCodec, ALeaseIsOneWordEach) {
  EXPECT_EQ(lock_id(kId, "me@host:1", "night run"), kText + " me@host:1 night%20run");
  EXPECT_EQ(lock_id(kId, std::string_view("\0\xff", 2), ""), kText + " %00%FF ");
}

TEST(RecordCodec, AMutexIsReadBack) {
  const auto record = read(R"({"_id": "x", "lockId": ")" + kText +
                           R"( me night%20run", "expiresAt": {"$date": {"$numberLong": "2000"}},
      "acquiredAt": {"$date": {"$numberLong": "1000"}}, "fencingToken": 7})");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->last_token, 7U);
  EXPECT_EQ(record->capacity, 1U);
  ASSERT_EQ(record->leases.size(), 1U);
  EXPECT_EQ(record->leases.front().id, kId);
  EXPECT_EQ(record->leases.front().owner, "me");
  EXPECT_EQ(record->leases.front().reason, "night run");
  EXPECT_EQ(record->leases.front().expires - record->leases.front().granted,
            std::chrono::seconds(1));
}

TEST(RecordCodec, TheLockOfAnotherProgramHasNoIdAndItsTextAsTheOwner) {
  for (const std::string& text : {kText, std::string("anything"), kText + " x", std::string()}) {
    const auto record = read(R"({"lockId": ")" + text +
                             R"(", "expiresAt": {"$date": {"$numberLong": "2000"}},
        "acquiredAt": {"$date": {"$numberLong": "1000"}}, "fencingToken": 1})");
    ASSERT_TRUE(record);
    EXPECT_TRUE(record->leases.front().id.is_nil());
    EXPECT_EQ(record->leases.front().owner, text);
  }
}

TEST(RecordCodec, ATombstoneHasNoLease) {
  const auto record = read(R"({"lockId": ")" + tombstone_lock_id(kId) +
                           R"(", "expiresAt": {"$date": {"$numberLong": "2000"}},
      "fencingToken": {"$numberLong": "8"}})");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->last_token, 8U);
  EXPECT_TRUE(record->leases.empty());
}

TEST(RecordCodec, WhatIsNotALockIsAConflict) {
  for (
      const char* const json :
      {R"({"data": 1})", R"({"lockId": 1, "expiresAt": {"$date": 1}, "fencingToken": 1})",
       R"({"lockId": "a", "expiresAt": "soon", "fencingToken": 1})",
       R"({"lockId": "a", "expiresAt": {"$date": {"$numberLong": "1"}}, "fencingToken": 1.5})",
       R"({"lockId": "holdfast", "expiresAt": {"$date": {"$numberLong": "1"}}, "fencingToken": 1})",
       R"({"lockId": "holdfast", "expiresAt": {"$date": {"$numberLong": "1"}}, "fencingToken": 1,
            "capacity": 2, "leases": [7]})"}) {
    const auto record = read(json);
    ASSERT_FALSE(record) << json;
    EXPECT_EQ(record.error().code, ErrorCode::conflict);
  }
}

TEST(RecordCodec, ANumberOutOfItsRangeIsCorrupt) {
  const auto document = [](const std::string& token, const std::string& more) {
    return R"({"lockId": "holdfast", "expiresAt": {"$date": {"$numberLong": "1"}},
        "fencingToken": {"$numberLong": ")" +
           token + R"("}, )" + more + "}";
  };
  const auto lease = [&](const std::string& permits, const std::string& token) {
    return document("7", R"("capacity": 5, "leases": [{"lockId": "a",
        "granted": {"$date": {"$numberLong": "1"}}, "expires": {"$date": {"$numberLong": "9"}},
        "permits": {"$numberLong": ")" +
                             permits + R"("}, "token": {"$numberLong": ")" + token + R"("}}])");
  };
  ASSERT_TRUE(read(lease("4294967295", "7")));
  for (const std::string& json :
       {document("-1", R"("capacity": 1)"), document("-9223372036854775808", R"("capacity": 1)"),
        document("7", R"("capacity": -1)"),
        document("7", R"("capacity": {"$numberLong": "4294967296"})"), lease("0", "7"),
        lease("-1", "7"), lease("4294967296", "7"), lease("1", "-1"),
        document("7", R"("capacity": 1, "waits": [{"id": ")" + kText +
                          R"(", "permits": -1, "until": {"$date": {"$numberLong": "1"}}}])"),
        document("7", R"("capacity": 1, "log": [{"ends": 1, "count": -1}])"),
        document("7", R"("capacity": 1, "window": {"ends": 1,
            "hits": {"$numberLong": "4294967296"}})")}) {
    const auto record = read(json);
    ASSERT_FALSE(record) << json;
    EXPECT_EQ(record.error().code, ErrorCode::corrupt) << json;
  }
}

TEST(RecordCodec, ATimeOfTheServerThatCannotBeIsNoToken) {
  EXPECT_EQ(instant_of(Date{-1}).token_floor, 0U);
  EXPECT_EQ(instant_of(Date{INT64_MAX}).token_floor, 9'223'372'036'854'775'000U);
}

TEST(RecordCodec, AWindowThatNoClockReachesIsTheEndOfTime) {
  const auto record = read(R"({"lockId": "holdfast", "fencingToken": 1, "capacity": 1,
      "expiresAt": {"$date": {"$numberLong": "1"}},
      "log": [{"ends": {"$numberLong": "-9223372036854775808"}, "count": 1}],
      "window": {"ends": {"$numberLong": "9223372036854775807"}, "hits": 1}})");
  ASSERT_TRUE(record);
  EXPECT_GT(record->window_ends, instant_of(Date{4'000'000'000'000}).time);
  EXPECT_LT(record->log.at(0).ends, base::TimePoint());
}

TEST(RecordCodec, ADateThatNoClockReachesIsTheEndOfTime) {
  const auto record = read(R"({"lockId": "theirs", "fencingToken": 1,
      "expiresAt": {"$date": {"$numberLong": "9223372036854775807"}}})");
  ASSERT_TRUE(record);
  EXPECT_GT(record->leases.front().expires, instant_of(Date{4'000'000'000'000}).time);
}

}  // namespace
}  // namespace holdfast::engines::mongodb::internal
