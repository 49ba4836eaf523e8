#include <holdfast/engines/open_store.h>

#include <filesystem>

#include <gtest/gtest.h>
#include <tests/support/forked_child.h>
#include <tests/support/temporary_folder.h>

namespace holdfast::engines {
namespace {

using namespace std::chrono_literals;

std::string error_of(std::string_view url) {
  const auto store = open_store(url);
  EXPECT_FALSE(store) << url;
  return store ? "" : base::to_string(store.error());
}

// Returns the error of the first operation: a store asks its server when it needs it.
std::string error_of_use(std::string_view url) {
  const auto store = open_store(url);
  EXPECT_TRUE(store) << url;
  if (!store) {
    return "";
  }
  const auto seen = (*store)->look("name");
  EXPECT_FALSE(seen) << url;
  return seen ? "" : base::to_string(seen.error());
}

TEST(OpenStore, OpensEveryEngineThatNeedsNoServer) {
  const tests::TemporaryFolder folder;
  for (const EngineInfo& engine : known_engines()) {
    if (engine.url.find("//") != std::string::npos || engine.scheme == "disabled") {
      continue;
    }
    const std::string url =
        engine.scheme == "sqlite"
            ? "sqlite:" + (folder / "a%20b.db?busy_timeout=1s&mode=0660&retention=2h").string()
            : engine.scheme + ":";
    const auto store = open_store(url);
    ASSERT_TRUE(store) << url << ": " << base::to_string(store.error());
    EXPECT_EQ((*store)->capabilities().engine, engine.scheme);
    const store::Claim claim{
        .id = base::LeaseId::generate(), .owner = "test", .reason = "", .ttl = 1s};
    const auto granted = (*store)->claim("name", claim);
    ASSERT_TRUE(granted);
    EXPECT_TRUE(std::holds_alternative<store::Grant>(*granted));
  }
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder / "a b.db").permissions(),
            perms::owner_read | perms::owner_write | perms::group_read | perms::group_write);
}

TEST(OpenStore, ADisabledStoreIsUnavailableAtOnceAndSaysWhy) {
  const auto store = base::value_or_throw(open_store("disabled:"));
  const auto looked = store->look("job");
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().code, base::ErrorCode::unavailable);
  EXPECT_NE(looked.error().message.find("switched off"), std::string::npos);
  const store::Claim claim{
      .id = base::LeaseId::generate(), .owner = "test", .reason = "", .ttl = 30s};
  EXPECT_EQ(store->claim("job", claim).error().code, base::ErrorCode::unavailable);
  EXPECT_EQ(store->watch("job", [](const store::Notice&) {}).error().code,
            base::ErrorCode::unavailable);
  EXPECT_FALSE(open_store("disabled:file"));
}

TEST(OpenStore, AServerThatIsNotThereIsUnavailableWhenItIsNeeded) {
  for (const std::string_view url :
       {"redis://127.0.0.1:1", "rediss://127.0.0.1:1", "redis+unix:///no/such/socket",
        "mongodb://127.0.0.1:1/?reply_timeout=100ms"}) {
    EXPECT_NE(error_of_use(url).find("unavailable"), std::string::npos) << url;
  }
}

TEST(OpenStore, APasswordIsInNoMessage) {
  for (const std::string_view url :
       {"redis://user:secret@host?nothing", "redis://user:secret@host?nothing=1",
        "redis://user:secret@host:port", "mongodb://user:secret@host/?nothing=1",
        "mongodb://user:secret@host:port/", "mongodb://user:sec/secret@host/"}) {
    EXPECT_EQ(error_of(url).find("secret"), std::string::npos) << url;
  }
  EXPECT_EQ(error_of_use("redis://user:secret@127.0.0.1:1").find("secret"), std::string::npos);
  EXPECT_EQ(error_of_use("mongodb://user:secret@127.0.0.1:1/?reply_timeout=100ms").find("secret"),
            std::string::npos);
}

TEST(OpenStore, AnUnknownSchemeNamesTheEnginesThereAre) {
  const std::string error = error_of("nosuch://host");
  EXPECT_NE(error.find("invalid_argument"), std::string::npos);
  EXPECT_NE(error.find("'nosuch'"), std::string::npos);
  EXPECT_NE(error.find("memory: sqlite:/path/to/file.db redis://"), std::string::npos);
}

TEST(OpenStore, AnUnknownOptionNamesTheOptionsThereAre) {
  EXPECT_NE(error_of("sqlite:/tmp/x.db?timeout=5s")
                .find("it has busy_timeout=5s, mode=0644, prefix=, retention=1h"),
            std::string::npos);
  EXPECT_NE(error_of("memory:?a=1").find("it has prefix="), std::string::npos);
}

TEST(OpenStore, ABadValueIsNamedWithItsOption) {
  EXPECT_NE(error_of("sqlite:/tmp/x.db?mode=rw").find("mode: 'rw' is not a mode of a file"),
            std::string::npos);
  EXPECT_NE(error_of("sqlite:/tmp/x.db?mode=066").find("not between 0600 and 0777"),
            std::string::npos);
  EXPECT_NE(error_of("sqlite:/tmp/x.db?busy_timeout=5").find("busy_timeout: '5' is not a duration"),
            std::string::npos);
}

TEST(OpenStore, APathIsNeededWhereThereIsAFileAndRefusedWhereThereIsNone) {
  EXPECT_NE(error_of("sqlite:").find("needs the path"), std::string::npos);
  EXPECT_NE(error_of("memory:/tmp").find("has no path"), std::string::npos);
}

bool acquires(store::LeaseStore& store, std::string_view name) {
  const store::Claim claim{
      .id = base::LeaseId::generate(), .owner = "test", .reason = "", .ttl = 10s};
  const auto outcome = store.claim(name, claim);
  EXPECT_TRUE(outcome) << base::to_string(outcome.error());
  return outcome && std::holds_alternative<store::Grant>(*outcome);
}

std::shared_ptr<store::LeaseStore> open(std::string_view url) {
  return base::value_or_throw(open_store(url));
}

TEST(OpenStore, MemoryWithANameIsOneStoreForTheProcess) {
  const auto first = open("memory:jobs");
  const auto second = open("memory:jobs");
  const auto other = open("memory:reports");

  EXPECT_TRUE(acquires(*first, "name"));
  EXPECT_FALSE(acquires(*second, "name"));
  EXPECT_TRUE(acquires(*other, "name"));
}

TEST(OpenStore, MemoryWithANameEndsWithItsLastUser) {
  EXPECT_TRUE(acquires(*open("memory:jobs"), "name"));
  EXPECT_TRUE(acquires(*open("memory:jobs"), "name"));
}

TEST(OpenStoreInAForkedChild, MemoryWithANameIsAnotherStore) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer starts no threads in a forked child";
#endif
  const auto ours = open("memory:jobs");
  ASSERT_TRUE(acquires(*ours, "name"));

  EXPECT_TRUE(tests::is_true_in_child([] { return acquires(*open("memory:jobs"), "name"); }));
}

TEST(OpenStore, MemoryWithoutANameIsAStoreOfItsOwnEachTime) {
  const auto first = open("memory:");
  const auto second = open("memory:");

  EXPECT_TRUE(acquires(*first, "name"));
  EXPECT_TRUE(acquires(*second, "name"));
}

TEST(OpenStore, APrefixKeepsNamesApartInOneStore) {
  const tests::TemporaryFolder folder;
  for (const std::string& url :
       {std::string("memory:jobs"), "sqlite:" + (folder / "locks.db").string()}) {
    const auto all = open(url);
    const auto billing = open(url + "?prefix=billing%2F");
    const auto shipping = open(url + "?prefix=shipping%2F");

    EXPECT_TRUE(acquires(*billing, "report")) << url;
    EXPECT_TRUE(acquires(*shipping, "report")) << url;
    EXPECT_FALSE(acquires(*all, "billing/report")) << url;
  }
}

}  // namespace
}  // namespace holdfast::engines
