#include <holdfast/base/ttl.h>

#include <chrono>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

constexpr TimePoint kNow{1h};

Duration converted(Ttl ttl) { return ttl.unchecked(); }

TEST(Ttl, ConvertsImplicitlyFromAnyDuration) {
  EXPECT_EQ(converted(30s), 30s);
  EXPECT_EQ(converted(1h), 1h);
  EXPECT_EQ(converted(Seconds{0.5}), 500ms);
  EXPECT_LT(Ttl{1s}, Ttl{1min});
}

TEST(Ttl, AcceptsEverythingFromANanosecondToJustBelowTheLongest) {
  EXPECT_EQ(Ttl{1ns}.checked(), Result<Duration>{1ns});
  EXPECT_EQ(Ttl{30s}.checked(), Result<Duration>{30s});
  EXPECT_EQ(Ttl{Duration::max() - 1ns}.checked(), Result<Duration>{Duration::max() - 1ns});
}

TEST(Ttl, RejectsValuesThatAreNotPositiveAndSaysWhatToPass) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Ttl ttl : {Ttl{0s}, Ttl{-1ns}, Ttl{Duration::min()}, Ttl{std::chrono::hours::min()},
                        Ttl{Seconds{nan}}, Ttl{Seconds{-0.5}}, Ttl{Seconds{1e-12}}}) {
    const Result<Duration> checked = ttl.checked();
    ASSERT_FALSE(checked.has_value()) << ttl.unchecked().count();
    EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(checked.error().message.find("pass a positive duration"), std::string::npos);
  }
}

TEST(Ttl, RejectsValuesThatAreTooLongInsteadOfWrappingAround) {
  for (const Ttl ttl : {Ttl{std::chrono::hours::max()}, Ttl{Duration::max()}, Ttl{Seconds{1e300}},
                        Ttl{std::chrono::years{293}}}) {
    const Result<Duration> checked = ttl.checked();
    ASSERT_FALSE(checked.has_value()) << ttl.unchecked().count();
    EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(checked.error().message.find("too long"), std::string::npos);
  }
}

TEST(ExpiryAfter, IsTheSum) {
  EXPECT_EQ(expiry_after(kNow, 30s), Result<TimePoint>{kNow + 30s});
  static_assert(try_expiry_after(TimePoint{1s}, 2s) == TimePoint{3s});
}

TEST(ExpiryAfter, ReachesTheEndOfTimeAndNotBeyond) {
  const TimePoint late = TimePoint::max() - 30s;
  EXPECT_EQ(expiry_after(late, 30s), Result<TimePoint>{TimePoint::max()});
  EXPECT_EQ(try_expiry_after(late, 30s + 1ns), std::nullopt);
  const Result<TimePoint> beyond = expiry_after(late, 30s + 1ns);
  ASSERT_FALSE(beyond.has_value());
  EXPECT_EQ(beyond.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(beyond.error().message.find("shorter"), std::string::npos);
}

TEST(ExpiryAfter, RejectsAnInvalidTtlWithTheErrorOfTheTtl) {
  EXPECT_EQ(try_expiry_after(kNow, 0s), std::nullopt);
  EXPECT_EQ(expiry_after(kNow, 0s).error(), Ttl{0s}.error());
  EXPECT_EQ(expiry_after(kNow, std::chrono::hours::max()).error(),
            Ttl{std::chrono::hours::max()}.error());
}

TEST(ExpiryAfter, WorksBeforeTheEpoch) {
  EXPECT_EQ(expiry_after(TimePoint{-1h}, 2h), Result<TimePoint>{TimePoint{1h}});
}

}  // namespace
}  // namespace holdfast::base
