#include <holdfast/store/listings.h>

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;

constexpr base::TimePoint kNow{1h};

Listing listing_of(std::string prefix) {
  return {.prefix = std::move(prefix), .names = {*base::Name::make("a")}, .shown = 1};
}

TEST(Listings, AListingGoesOnWhereItsPageEnded) {
  Listings listings;
  listings.keep(listing_of("p"), "b", kNow);
  EXPECT_FALSE(listings.take("p", "a", kNow));
  EXPECT_FALSE(listings.take("q", "b", kNow));
  const auto taken = listings.take("p", "b", kNow);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->shown, 1U);
  EXPECT_FALSE(listings.take("p", "b", kNow));
}

TEST(Listings, OfTwoAtTheSameNameTheOneThatBeganLaterGoesOn) {
  Listings listings;
  Listing newer = listing_of("");
  newer.shown = 2;
  listings.keep(newer, "a", kNow + 1s);
  newer = *listings.take("", "a", kNow + 1s);
  listings.keep(listing_of(""), "b", kNow);
  listings.keep(std::move(newer), "b", kNow + 2s);
  listings.keep(listing_of(""), "b", kNow + 500ms);
  EXPECT_EQ(listings.take("", "b", kNow + 3s)->shown, 2U);
}

TEST(Listings, AListingThatNobodyReadsIsForgotten) {
  Listings listings;
  listings.keep(listing_of(""), "b", kNow);
  EXPECT_FALSE(listings.take("", "b", kNow + Listings::kKept + 1ns));
}

TEST(Listings, OnlyAFewAreKept) {
  Listings listings;
  for (std::size_t i = 0; i <= Listings::kMost; ++i) {
    listings.keep(listing_of(""), std::to_string(i), kNow);
  }
  EXPECT_FALSE(listings.take("", "0", kNow));
  EXPECT_TRUE(listings.take("", "1", kNow));
}

}  // namespace
}  // namespace holdfast::store
