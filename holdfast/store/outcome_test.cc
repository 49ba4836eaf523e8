#include <holdfast/store/outcome.h>

#include <sstream>

#include <gtest/gtest.h>

#include <holdfast/store/claim.h>
#include <holdfast/store/outcome_text.h>

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;

Holder holder() {
  return {.id = base::LeaseId(0, 255),
          .owner = "web\n1",
          .reason = "nightly",
          .token = base::FencingToken(7),
          .held_for = 90s,
          .time_left = 30s};
}

constexpr const char* kHolderText =
    R"(Holder { id = 000000000000000000000000000000ff, owner = "web\x0a1", reason = "nightly", )"
    R"(permits = 1, token = 7, held_for = 1m 30s, time_left = 30s, foreign = false })";

TEST(Holder, IsReadableInALog) {
  EXPECT_EQ(to_string(holder()), kHolderText);
  std::ostringstream out;
  out << holder();
  EXPECT_EQ(out.str(), kHolderText);
}

TEST(NameState, IsReadableInALog) {
  const NameState state{.name = *base::Name::make("a"), .holders = {holder(), holder()}};
  const std::string both = std::string(kHolderText) + ", " + kHolderText;
  EXPECT_EQ(to_string(state), "NameState { name = \"a\", capacity = 1, holders = [" + both + "] }");
  std::ostringstream out;
  out << NameState{.name = *base::Name::make("b"), .capacity = Permits::kAll, .holders = {}};
  EXPECT_EQ(out.str(), "NameState { name = \"b\", capacity = all, holders = [] }");
}

TEST(Outcomes, AreWordsInALog) {
  EXPECT_EQ(to_string(RenewOutcome::renewed), "renewed");
  EXPECT_EQ(to_string(RenewOutcome::lost), "lost");
  EXPECT_EQ(to_string(RenewOutcome::failed), "failed");
  std::ostringstream out;
  out << ReleaseOutcome::released << ' ' << ReleaseOutcome::not_held << ' ' << RenewOutcome::lost;
  EXPECT_EQ(out.str(), "released not_held lost");
}

}  // namespace
}  // namespace holdfast::store
