#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;
using recipes::Leader;
using recipes::Term;

AcquireOptions candidate(std::string owner, std::stop_token stop = {}) {
  AcquireOptions options = LockRun::options();
  options.owner = std::move(owner);
  options.stop = std::move(stop);
  return options;
}

AcquireOptions hasty(std::string owner) {
  AcquireOptions options = candidate(std::move(owner));
  options.wait = base::Duration::zero();
  return options;
}

constexpr LockCase kCases[] = {
    {"OneLeadsAndAllSeeTheLeader",
     [](LockRun& run) {
       const auto election = run.recipes().election("post");
       const auto other = run.another_provider();
       const auto same = other->recipes().election("post");
       EXPECT_EQ(election->leader().value(), std::nullopt);
       const auto term = must_have(election->campaign(candidate("anna")));
       EXPECT_TRUE(is_busy(same->campaign(hasty("bert"))));
       const auto leader = same->leader().value();
       ASSERT_TRUE(leader);
       EXPECT_EQ(leader->owner, "anna");
       EXPECT_EQ(leader->token, term->token());
     }},

    {"AResignationHandsOver",
     [](LockRun& run) {
       const auto election = run.recipes().election("post");
       const auto other = run.another_provider();
       const auto same = other->recipes().election("post");
       const auto first = must_have(election->campaign(candidate("anna")));
       auto next = run.in_background([&] { return same->campaign(candidate("bert")); });
       EXPECT_TRUE(run.soon([&] { return other->waiting() == 1; }));
       EXPECT_EQ(first->release(), store::ReleaseOutcome::released);
       const auto second = must_have(run.result_of(next));
       EXPECT_GT(second->token(), first->token());
       EXPECT_EQ(election->leader().value()->owner, "bert");
     }},

    {"ADeathHandsOverWithinTheTtl",
     [](LockRun& run) {
       const auto election = run.recipes().election("post");
       run.abandon("post", run.ttl());
       const base::FencingToken dead = election->leader().value()->token;
       auto next = run.in_background([&] { return election->campaign(candidate("bert")); });
       const auto term = must_have(run.result_of(next));
       EXPECT_GT(term->token(), dead);
     }},

    {"NeverTwoLeadAndTokensOnlyGrow",
     [](LockRun& run) {
       std::mutex mutex;
       std::vector<base::FencingToken> tokens;  // protected by mutex
       std::atomic<int> leading = 0;
       std::atomic<int> most = 0;
       std::stop_source stop;
       std::vector<std::unique_ptr<ProviderUnderTest>> providers;
       std::vector<std::jthread> candidates;
       const std::size_t terms = static_cast<std::size_t>(scaled(64));
       for (int i = 0; i < 4; ++i) {
         providers.push_back(run.another_provider());
       }
       for (int i = 0; i < 4; ++i) {
         candidates.emplace_back([&, i] {
           const auto election = providers[static_cast<std::size_t>(i)]->recipes().election("post");
           const auto led = election->lead(
               [&](const Term& term) {
                 const int now = ++leading;
                 for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
                 }
                 const std::lock_guard guard(mutex);
                 tokens.push_back(term.token);
                 if (tokens.size() == terms) {
                   stop.request_stop();
                 }
                 --leading;
               },
               candidate(std::to_string(i), stop.get_token()));
           EXPECT_TRUE(led) << (led ? "" : base::to_string(led.error()));
         });
       }
       EXPECT_TRUE(run.in_time([&] { return stop.stop_requested(); }));
       stop.request_stop();
       candidates.clear();
       EXPECT_EQ(most, 1);
       EXPECT_GE(tokens.size(), terms);
       EXPECT_EQ(std::ranges::adjacent_find(tokens, std::greater_equal()), tokens.end());
       EXPECT_EQ(run.recipes().election("post")->leader().value(), std::nullopt);
     }},

    {"ATermIsOverWhenItIsLost",
     [](LockRun& run) {
       const auto election = run.recipes().election("post");
       std::stop_source stop;
       std::atomic<int> terms = 0;
       auto led = run.in_background([&] {
         AcquireOptions options = run.brief_options();
         options.stop = stop.get_token();
         return election->lead(
             [&](const Term& term) {
               if (++terms == 2) {
                 stop.request_stop();
                 return;
               }
               const auto leader = run.holders("post").at(0);
               EXPECT_EQ(run.store().release("post", leader.id), store::ReleaseOutcome::released);
               EXPECT_TRUE(eventually([&] { return term.over.stop_requested(); }));
             },
             options);
       });
       EXPECT_TRUE(run.result_of(led));
       EXPECT_EQ(terms, 2);  // lost once, and elected again
     }},

    {"AFailedReleaseOfALostOrStoppedTermIsNoError",
     [](LockRun& run) {
       const auto election = run.recipes().election("post");
       std::stop_source stop;
       std::atomic<int> terms = 0;
       run.network().refuse(Operation::release, 2);
       auto led = run.in_background([&] {
         AcquireOptions options = run.brief_options();
         options.stop = stop.get_token();
         return election->lead(
             [&](const Term& term) {
               if (++terms == 2) {
                 stop.request_stop();
                 return;
               }
               const auto leader = run.holders("post").at(0);
               EXPECT_EQ(run.store().release("post", leader.id), store::ReleaseOutcome::released);
               EXPECT_TRUE(eventually([&] { return term.over.stop_requested(); }));
             },
             options);
       });
       EXPECT_TRUE(run.result_of(led));
       EXPECT_EQ(terms, 2);
     }},

    {"AStopEndsTheTermAndTheCampaign",
     [](LockRun& run) {
       const auto election = run.recipes().election("post");
       const auto other = run.another_provider();
       std::stop_source stop;
       std::atomic<bool> leads = false;
       auto led = run.in_background([&] {
         return election->lead(
             [&](const Term& term) {
               leads = true;
               EXPECT_TRUE(eventually([&] { return term.over.stop_requested(); }));
             },
             candidate("anna", stop.get_token()));
       });
       EXPECT_TRUE(run.soon([&] { return leads.load(); }));
       auto waits = run.in_background([&] {
         return other->recipes().election("post")->lead([](const Term&) {},
                                                        candidate("bert", stop.get_token()));
       });
       EXPECT_TRUE(run.soon([&] { return other->waiting() == 1; }));
       stop.request_stop();
       EXPECT_TRUE(run.result_of(led));
       EXPECT_TRUE(run.result_of(waits));
       EXPECT_TRUE(run.is_soon_free("post"));
     }},

    {"AnExceptionOfTheWorkEndsTheTerm",
     [](LockRun& run) {
       const auto election = run.recipes().election("post");
       EXPECT_THROW(static_cast<void>(election->lead(
                        [](const Term&) { throw std::runtime_error("no"); }, candidate("anna"))),
                    std::runtime_error);
       EXPECT_EQ(election->leader().value(), std::nullopt);
     }},

    {"AChangeOfTheLeaderIsObserved",
     [](LockRun& run) {
       const auto election = run.recipes().election("post");
       const auto other = run.another_provider();
       const auto same = other->recipes().election("post");
       auto first = run.in_background([&] { return same->wait_for_change(std::nullopt, 24h); });
       auto term = must_have(election->campaign(candidate("anna")));
       const auto seen = run.result_of(first).value();
       ASSERT_TRUE(seen);
       EXPECT_EQ(seen->owner, "anna");
       auto gone = run.in_background([&] { return same->wait_for_change(seen->token, 24h); });
       term.reset();
       EXPECT_EQ(run.result_of(gone).value(), std::nullopt);
     }},

    {"AnObserverWaitsNoLongerThanItsLimit",
     [](LockRun& run) {
       const auto election = run.recipes().election("post");
       EXPECT_EQ(election->wait_for_change(std::nullopt, 0s).value(), std::nullopt);
       auto waits =
           run.in_background([&] { return election->wait_for_change(std::nullopt, run.ttl()); });
       EXPECT_EQ(run.result_of(waits).value(), std::nullopt);
       std::stop_source stop;
       auto cancelled = run.in_background(
           [&] { return election->wait_for_change(std::nullopt, 24h, stop.get_token()); });
       stop.request_stop();
       EXPECT_EQ(error_of(run.result_of(cancelled)), ErrorCode::cancelled);
     }},
};

}  // namespace

std::span<const LockCase> leader_election_cases() { return kCases; }

}  // namespace holdfast::testing::internal
