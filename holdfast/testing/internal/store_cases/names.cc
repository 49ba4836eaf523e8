#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/printable.h>
#include <holdfast/testing/internal/awkward_names.h>
#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using base::ErrorCode;
using store::Claim;

constexpr StoreCase kCases[] = {
    {"EmptyAndOverlongNamesAreRejected",
     [](StoreRun& run) {
       for (const std::string& name : {std::string(), std::string(base::Name::kMaxSize + 1, 'x')}) {
         EXPECT_EQ(error_of(run.store().claim(name, wish())), ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(run.store().look(name)), ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(run.store().release(name, base::LeaseId::generate())),
                   ErrorCode::invalid_argument);
         EXPECT_EQ(error_of(run.store().transfer(name, base::LeaseId::generate(), wish())),
                   ErrorCode::invalid_argument);
         const store::Renewal renewal{.name = name, .id = base::LeaseId::generate(), .ttl = kLong};
         EXPECT_EQ(error_of(run.store().renew({&renewal, 1})), ErrorCode::invalid_argument);
       }
     }},

    {"AwkwardNamesAreAllDistinctAndAllWork",
     [](StoreRun& run) {
       std::map<std::string, Claim> claims;
       for (const std::string& name : awkward_names()) {
         SCOPED_TRACE(base::printable(name));
         const Claim claim = wish();
         (void)granted(run.store().claim(name, claim));
         EXPECT_TRUE(claims.emplace(name, claim).second) << "twice in the list of names";
       }
       for (const auto& [name, claim] : claims) {
         SCOPED_TRACE(base::printable(name));
         EXPECT_EQ(busy(run.store().claim(name, wish())).holders.at(0).id, claim.id);
         EXPECT_EQ(run.holders(name).at(0).id, claim.id);
         EXPECT_EQ(run.renew(name, claim.id, kLong), store::RenewOutcome::renewed);
       }
       const store::Page page =
           base::value_or_throw(run.store().list("", {.limit = 1000, .after = {}}));
       ASSERT_EQ(page.names.size(), claims.size());
       auto expected = claims.begin();
       for (const store::NameState& state : page.names) {
         EXPECT_EQ(state.name.view(), (expected++)->first);
       }
       for (const auto& [name, claim] : claims) {
         EXPECT_EQ(run.release(name, claim.id), store::ReleaseOutcome::released);
         EXPECT_TRUE(run.holders(name).empty());
       }
     }},

    {"AwkwardNamesCountHitsAndTransferToo",
     [](StoreRun& run) {
       for (const std::string& name : awkward_names()) {
         SCOPED_TRACE(base::printable(name));
         const Claim from = wish(run.ttl());
         const Claim to = wish(run.ttl());
         (void)granted(run.store().claim(name, from));
         (void)handed_over(run.store().transfer(name, from.id, to));
         run.release(name, to.id);
         EXPECT_EQ(
             base::value_or_throw(run.store().hit(name, {.limit = 2, .period = kLong})).remaining,
             1U);
       }
     }},
};

}  // namespace

std::span<const StoreCase> name_cases() { return kCases; }

}  // namespace holdfast::testing::internal
