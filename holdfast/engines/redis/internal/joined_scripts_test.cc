// The scripts that may be joined, for several names at once: for each name they do what they do for
// one, or nothing.

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/leases.h>
#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

#include <holdfast/engines/redis/internal/key_space.h>
#include <holdfast/engines/redis/internal/lua.h>
#include <holdfast/engines/redis/redis_store.h>

namespace holdfast::engines::redis::internal {
namespace {

using namespace std::chrono_literals;
using store::Claim;
using store::Grant;
using tests::expect;
using tests::wish;
using Names = std::vector<std::string>;
using Done = std::vector<bool>;

class JoinedScripts : public ::testing::Test {
 protected:
  std::string run(const std::vector<std::string>& words) { return client_.run(words); }

  // The id claims each of these names for ten minutes, or releases it; whether that was done.
  Done claim(const Names& names, const base::LeaseId& id) {
    return ask(lua::kClaim, names,
               {to_string(id), "600000000 " + to_string(id) + " 8 somebody", "600002"});
  }
  Done release(const Names& names, const base::LeaseId& id) {
    return ask(lua::kRelease, names, {to_string(id)});
  }

  std::vector<store::Holder> holders(std::string_view name) {
    const auto state = base::value_or_throw(store_->look(name));
    return state ? state->holders : std::vector<store::Holder>();
  }

  const tests::RedisServer server_;
  tests::RedisClient client_{server_.port()};
  const std::unique_ptr<store::LeaseStore> store_ =
      base::value_or_throw(open_store({.host = "127.0.0.1", .port = server_.port()}));
  const base::LeaseId mine_ = base::LeaseId::generate();

 private:
  Done ask(const Script& script, const Names& names, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"EVAL", std::string(script.text),
                                      std::to_string(2 * names.size())};
    for (const std::string& name : names) {
      const Keys keys = KeySpace("").keys_of(name);
      words.insert(words.end(), {keys.plain, keys.companion});
    }
    words.emplace_back("3600000");
    for (std::size_t i = 0; i < names.size(); ++i) {
      words.insert(words.end(), arguments.begin(), arguments.end());
    }
    const std::string answer = run(words);  // [answer answer …]
    EXPECT_TRUE(answer.starts_with('[')) << answer;
    std::istringstream answers(answer.substr(1, answer.size() - 2));
    Done done;
    for (std::string word; answers >> word;) {
      done.push_back(word != "(nil)");
    }
    return done;
  }
};

TEST_F(JoinedScripts, EachIsGrantedWithATokenOfItsOwnName) {
  const Claim before = wish();
  const auto granted = expect<Grant>(store_->claim("two", before));
  EXPECT_EQ(store_->release("two", before.id), store::ReleaseOutcome::released);
  EXPECT_EQ(claim({"one", "two", "three"}, mine_), (Done{true, true, true}));
  for (const char* const name : {"one", "two", "three"}) {
    const auto all = holders(name);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].id, mine_);
    EXPECT_EQ(all[0].owner, "somebody");
    EXPECT_GT(all[0].time_left, 9min);
    EXPECT_GT(all[0].token, granted.token);
  }
  EXPECT_EQ(release({"one", "two", "three"}, mine_), (Done{true, true, true}));
  EXPECT_TRUE(holders("one").empty());
  EXPECT_TRUE(holders("two").empty());
  EXPECT_TRUE(holders("three").empty());
}

TEST_F(JoinedScripts, NothingIsDoneForANameThatIsHeld) {
  const Claim other = wish();
  const auto granted = expect<Grant>(store_->claim("held", other));
  EXPECT_EQ(claim({"held", "free"}, mine_), (Done{false, true}));
  EXPECT_EQ(release({"held", "free"}, mine_), (Done{false, true}));
  EXPECT_EQ(holders("held").at(0).id, other.id);
  EXPECT_EQ(holders("held").at(0).token, granted.token);
}

TEST_F(JoinedScripts, OfTwoForOneNameOneIsGranted) {
  EXPECT_EQ(claim({"job", "job"}, mine_), (Done{true, false}));
  EXPECT_EQ(release({"job", "job"}, mine_), (Done{true, false}));
}

TEST_F(JoinedScripts, NothingIsDoneWhereSomethingElseIs) {
  run({"SET", "foreign", "theirs"});
  run({"LPUSH", "list", "something"});
  run({"LPUSH", "hf:{noted}", "something"});
  expect<Grant>(store_->claim("pool", wish(store::Permits::of(1, 2))));
  EXPECT_EQ(claim({"foreign", "list", "noted", "pool", "free"}, mine_),
            (Done{false, false, false, false, true}));
  EXPECT_EQ(release({"foreign", "list", "noted", "pool", "free"}, mine_),
            (Done{false, false, false, false, true}));
  EXPECT_EQ(run({"GET", "foreign"}), "theirs");
  EXPECT_EQ(run({"EXISTS", "noted", "pool"}), "0");
  EXPECT_EQ(run({"LLEN", "list"}), "1");
  EXPECT_EQ(run({"LLEN", "hf:{noted}"}), "1");
  EXPECT_EQ(holders("pool").size(), 1U);
}

TEST_F(JoinedScripts, NoTokenIsSmallerThanTheLast) {
  EXPECT_EQ(claim({"job", "other"}, mine_), (Done{true, true}));
  EXPECT_EQ(release({"job", "other"}, mine_), (Done{true, true}));
  run({"SETRANGE", "hf:{job}", "0", "8000000000000000"});
  EXPECT_EQ(claim({"job", "other"}, mine_), (Done{false, true}));
}

TEST_F(JoinedScripts, NothingIsReleasedPastTheWaiters) {
  EXPECT_EQ(claim({"job", "other"}, mine_), (Done{true, true}));
  run({"ZADD", "hfq:{job}", "1", "somebody"});
  EXPECT_EQ(release({"job", "other"}, mine_), (Done{false, true}));
  EXPECT_EQ(holders("job").at(0).id, mine_);
}

TEST_F(JoinedScripts, NothingIsReleasedWhoseQueueMustNotBeRead) {
  EXPECT_EQ(claim({"job", "secret", "other"}, mine_), (Done{true, true, true}));
  run({"ACL", "SETUSER", "limited", "on", ">word", "+@all", "~job", "~secret", "~other", "~hf:*",
       "~hfq:{job}", "~hfq:{other}"});
  ASSERT_EQ(run({"AUTH", "limited", "word"}), "OK");
  EXPECT_EQ(release({"job", "secret", "other"}, mine_), (Done{true, false, true}));
  EXPECT_EQ(holders("secret").at(0).id, mine_);
}

// Its note is to be kept for less long from then on.
TEST_F(JoinedScripts, NothingIsReleasedThatWouldLastForLong) {
  const Claim claim = wish({}, 24h);
  expect<Grant>(store_->claim("job", claim));
  EXPECT_EQ(release({"job", "other"}, claim.id), (Done{false, false}));
  EXPECT_EQ(holders("job").at(0).id, claim.id);
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
