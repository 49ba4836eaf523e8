#include <atomic>

#include <tests/mongodb/mongo_test.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using store::Claim;
using store::Grant;
using store::Permits;
using store::ReleaseOutcome;
using store::RenewOutcome;

class Layout : public MongoTest {
 protected:
  // The names of the fields of a document, in their order.
  std::string fields(std::string_view id) {
    const std::string json = document(id);
    std::string names;
    int depth = 0;
    for (std::size_t i = 0; i < json.size(); ++i) {
      if (json[i] == '{' || json[i] == '[') {
        ++depth;
      } else if (json[i] == '}' || json[i] == ']') {
        --depth;
      } else if (json[i] == '"') {
        const std::size_t end = json.find('"', i + 1);
        if (depth == 1 && json.compare(end + 1, 3, " : ") == 0) {
          names += (names.empty() ? "" : " ") + json.substr(i + 1, end - i - 1);
        }
        i = end;
      }
    }
    return names;
  }
};

constexpr const char* kAsOthersHaveIt = "_id lockId expiresAt acquiredAt fencingToken";

// Their driver refuses a document with a field that it does not know.
TEST_F(Layout, AMutexAndItsTombstoneHaveExactlyTheFieldsOfDistributedLock) {
  const Claim claim = wish();
  const Grant grant = expect<Grant>(store_->claim("job", claim));
  EXPECT_EQ(fields("job"), kAsOthersHaveIt);
  EXPECT_NE(document("job").find(to_string(claim.id) + " somebody because"), std::string::npos);
  EXPECT_NE(document("job").find(R"("fencingToken" : )" + to_string(grant.token)),
            std::string::npos);
  EXPECT_EQ(renew("job", claim.id), RenewOutcome::renewed);
  EXPECT_EQ(fields("job"), kAsOthersHaveIt);
  EXPECT_EQ(release("job", claim.id), ReleaseOutcome::released);
  EXPECT_EQ(fields("job"), kAsOthersHaveIt);
  EXPECT_NE(document("job").find(R"("lockId" : "released )" + to_string(claim.id)),
            std::string::npos);
}

TEST_F(Layout, WhenAllPermitsAreReleasedNothingIsLeftOfThem) {
  const Claim one = wish(Permits::of(1, 2));
  const Claim two = wish(Permits::of(1, 2));
  expect<Grant>(store_->claim("pool", one));
  expect<Grant>(store_->claim("pool", two));
  EXPECT_NE(fields("pool"), kAsOthersHaveIt);
  release("pool", one.id);
  EXPECT_NE(fields("pool"), kAsOthersHaveIt);
  release("pool", two.id);
  EXPECT_EQ(fields("pool"), kAsOthersHaveIt);
  expect<Grant>(store_->claim("pool", wish()));
  EXPECT_EQ(fields("pool"), kAsOthersHaveIt);
}

// The seed deletes the document at release, and its next token is 1.
TEST_F(Layout, TheTokenOfAReleasedNameDoesNotStartAgainAtOne) {
  const Claim first = wish();
  const Grant before = expect<Grant>(store_->claim("job", first));
  release("job", first.id);
  const Grant after = expect<Grant>(store_->claim("job", wish()));
  EXPECT_GT(after.token, before.token);
}

TEST_F(Layout, TheTokenOfAForgottenNameStartsFromTheServersClock) {
  const Claim first = wish();
  const Grant before = expect<Grant>(store_->claim("job", first));
  release("job", first.id);
  // The server's clock goes on by a millisecond at least.
  const Claim other = wish({}, 100ms);
  expect<Grant>(store_->claim("other", other));
  ASSERT_TRUE(eventually([&] { return holders("other").empty(); }));
  run(R"({"delete": "distributed.locks", "deletes": [{"q": {"_id": "job"}, "limit": 1}]})");
  EXPECT_EQ(document("job"), "");
  EXPECT_GT(expect<Grant>(store_->claim("job", wish())).token, before.token);
}

TEST_F(Layout, ARefusedClaimDoesNotWrite) {
  expect<Grant>(store_->claim("job", wish()));
  const std::string before = document("job");
  expect<store::Busy>(store_->claim("job", wish()));
  EXPECT_EQ(document("job"), before);
}

TEST_F(Layout, TheTtlIndexIsMadeInTheBackgroundAtFirstUse) {
  EXPECT_EQ(run(R"({"buildInfo": 1})").find("\"ok\" : 0"), std::string::npos);
  expect<Grant>(store_->claim("job", wish()));
  EXPECT_TRUE(eventually([&] {
    return run(R"({"listIndexes": "distributed.locks"})").find(R"("expireAfterSeconds" : 3600)") !=
           std::string::npos;
  }));
}

TEST_F(Layout, AnIndexOfSomebodyElseIsNoProblem) {
  run(R"({"createIndexes": "distributed.locks", "indexes": [{"key": {"expiresAt": 1},
      "name": "expiresAt_ttl", "expireAfterSeconds": 0}]})");
  std::atomic<int> warnings = 0;
  auto options = options_for(server_);
  std::atomic<int> infos = 0;
  options.logger = base::Logger([&](base::LogLevel level, std::string_view) {
    (level >= base::LogLevel::warning ? warnings : infos) += 1;
  });
  const auto store = store_on(std::move(options));
  expect<Grant>(store->claim("job", wish()));
  EXPECT_TRUE(eventually([&] { return infos > 0; }));
  EXPECT_EQ(warnings, 0);
}

TEST_F(Layout, NamesThatAreNotTextAreKeptInHexadecimal) {
  expect<Grant>(store_->claim("a\xff", wish()));
  EXPECT_NE(document("hf~61ff"), "");
  expect<Grant>(store_->claim("hf~61ff", wish()));
  EXPECT_EQ(base::value_or_throw(store_->list("")).names.size(), 2U);
}

TEST_F(Layout, StoresWithDifferentPrefixesDoNotMeet) {
  auto options = options_for(server_);
  options.prefix = "other:";
  const auto other = store_on(std::move(options));
  expect<Grant>(store_->claim("job", wish()));
  expect<Grant>(other->claim("job", wish()));
  EXPECT_NE(document("other:job"), "");
  EXPECT_EQ(base::value_or_throw(other->list("")).names.size(), 1U);
  EXPECT_EQ(base::value_or_throw(other->list("")).names.at(0).name.view(), "job");
}

// A document that begins with "released" is the lock of another program, unless it is exactly a
// tombstone.
TEST_F(Layout, ALockWhoseIdBeginsWithReleasedIsHeld) {
  const auto lock = [](const std::string& id, const std::string& lock_id) {
    return R"({"_id": ")" + id + R"(", "lockId": ")" + lock_id +
           R"(", "expiresAt": {"$date": {"$numberLong": "99999999999999"}},
               "acquiredAt": {"$date": {"$numberLong": "1"}}, "fencingToken": 7})";
  };
  plant(lock("held", "released-by-nobody"));
  plant(lock("free", "released"));
  plant(lock("also free", "released 0123"));
  const std::string before = document("held");
  EXPECT_TRUE(expect<store::Busy>(store_->claim("held", wish())).holders.at(0).foreign);
  EXPECT_EQ(document("held"), before);
  EXPECT_EQ(holders("held").size(), 1U);
  for (const std::string name : {"free", "also free"}) {
    EXPECT_TRUE(holders(name).empty());
    expect<Grant>(store_->claim(name, wish()));
  }
}

TEST_F(Layout, AnAcquireIsOneCommandAndAReleaseIsAnother) {
  if (server_.kind() != MongoServer::Kind::stand_in) {
    GTEST_SKIP() << "only the stand-in counts commands";
  }
  const auto commands = [&] {
    const std::string counts = client_.run("admin", R"({"holdfastCounts": 1})");
    long long sum = 0;
    for (const std::string name :
         {"aggregate", "delete", "find", "findAndModify", "insert", "update"}) {
      const std::string key = "\"" + name + "\" : ";
      const auto at = counts.find(key);
      sum += at != std::string::npos ? std::stoll(counts.substr(at + key.size())) : 0;
    }
    return sum;
  };
  locks::LockProvider provider(store_on(options_for(server_)));
  const long long before = commands();
  locks::Lock lock = provider.acquire("job");
  EXPECT_EQ(commands() - before, 1);
  ASSERT_EQ(lock.release(), ReleaseOutcome::released);
  EXPECT_EQ(commands() - before, 2);
}

// Such as a note that somebody has added: it is as long as a document may be.
TEST_F(Layout, OtherFieldsOfALockAreNotRead) {
  if (server_.kind() != MongoServer::Kind::stand_in) {
    GTEST_SKIP() << "only the stand-in says how much it has sent";
  }
  plant(R"({"_id": "job", "lockId": "somebody", "fencingToken": 7,
            "expiresAt": {"$date": {"$numberLong": "99999999999999"}},
            "acquiredAt": {"$date": {"$numberLong": "1"}}, "note": ")" +
        std::string(1'000'000, 'x') + "\"}");
  const auto sent = [&] {
    const std::string counts = client_.run("admin", R"({"holdfastCounts": 1})");
    const std::string key = "\"sent\" : ";
    return std::stoll(counts.substr(counts.find(key) + key.size()));
  };
  const long long before = sent();
  EXPECT_EQ(holders("job").size(), 1U);
  EXPECT_EQ(base::value_or_throw(store_->list("")).names.size(), 1U);
  expect<store::Busy>(store_->claim("job", wish()));
  EXPECT_EQ(renew("job", base::LeaseId::generate()), RenewOutcome::lost);
  EXPECT_LT(sent() - before, 100'000);
}

TEST_F(Layout, ADocumentThatIsNotALockIsAConflictAndStaysAsItIs) {
  plant(R"({"_id": "job", "data": 1})");
  const std::string before = document("job");
  const auto id = base::LeaseId::generate();
  EXPECT_EQ(store_->claim("job", wish()).error().code, ErrorCode::conflict);
  EXPECT_EQ(store_->claim("job", wish(Permits::of(1, 2))).error().code, ErrorCode::conflict);
  EXPECT_EQ(store_->look("job").error().code, ErrorCode::conflict);
  EXPECT_EQ(store_->hit("job", {.limit = 1, .period = 1min}).error().code, ErrorCode::conflict);
  EXPECT_EQ(store_->transfer("job", id, wish()).error().code, ErrorCode::conflict);
  EXPECT_EQ(renew("job", id), RenewOutcome::lost);
  EXPECT_EQ(release("job", id), ReleaseOutcome::not_held);
  EXPECT_TRUE(base::value_or_throw(store_->list("")).names.empty());
  EXPECT_EQ(document("job"), before);
}

}  // namespace
}  // namespace holdfast::tests
