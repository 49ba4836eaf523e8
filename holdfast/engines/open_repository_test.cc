#include <holdfast/engines/open_repository.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/open_store.h>

namespace holdfast::engines {
namespace {

using namespace std::chrono_literals;
using base::FencingToken;

std::string error_of(std::string_view url) {
  const auto repository = open_repository(url);
  EXPECT_FALSE(repository) << url;
  return repository ? "" : base::to_string(repository.error());
}

TEST(OpenRepository, OpensEveryEngineThatNeedsNoServer) {
  const tests::TemporaryFolder folder;
  for (const std::string& url :
       {std::string("memory:"), "sqlite:" + (folder / "a%20b.db").string()}) {
    const auto repository = open_repository(url);
    ASSERT_TRUE(repository) << url << ": " << base::to_string(repository.error());
    EXPECT_EQ((*repository)->capabilities().engine, url.substr(0, url.find(':')));
    const store::ObjectSave save{
        .key = {.type = "order", .id = "17"}, .data = "data", .token = FencingToken(1)};
    ASSERT_TRUE((*repository)->save({&save, 1}, store::Batch::each));
    EXPECT_EQ((*repository)->load(save.key, FencingToken(1)),
              store::LoadOutcome(store::Loaded{"data"}));
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "a b.db"));
}

TEST(OpenRepository, AServerThatIsNotThereIsUnavailableWhenItIsNeeded) {
  for (const std::string_view url :
       {"redis://user:secret@127.0.0.1:1", "rediss://127.0.0.1:1", "redis+unix:///no/such/socket",
        "mongodb://user:secret@127.0.0.1:1/?reply_timeout=100ms"}) {
    const auto repository = open_repository(url);
    ASSERT_TRUE(repository) << url;
    const auto loaded = (*repository)->load({.type = "order", .id = "17"}, FencingToken(1));
    ASSERT_FALSE(loaded) << url;
    EXPECT_EQ(loaded.error().code, base::ErrorCode::unavailable) << url;
    EXPECT_EQ(loaded.error().message.find("secret"), std::string::npos);
  }
}

TEST(OpenRepository, OneUrlNamesLeasesAndObjects) {
  const tests::TemporaryFolder folder;
  const std::string url = "sqlite:" + (folder / "both.db").string();
  const auto store = open_store(url);
  const auto repository = open_repository(url);
  ASSERT_TRUE(store);
  ASSERT_TRUE(repository);
  const store::Claim claim{
      .id = base::LeaseId::generate(), .owner = "test", .reason = "", .ttl = 10s};
  EXPECT_TRUE((*store)->claim("17", claim));
  EXPECT_EQ((*repository)->load({.type = "17", .id = "17"}, FencingToken(0)),
            store::LoadOutcome(store::Absent{}));
}

TEST(OpenRepository, AnUnknownSchemeNamesTheEnginesThereAre) {
  const std::string error = error_of("nosuch://host");
  EXPECT_NE(error.find("invalid_argument"), std::string::npos);
  EXPECT_NE(error.find("'nosuch'"), std::string::npos);
  EXPECT_NE(error.find("memory: sqlite:/path/to/file.db redis://"), std::string::npos);
}

TEST(OpenRepository, AnUnknownOptionNamesTheOptionsThereAre) {
  EXPECT_NE(error_of("sqlite:/tmp/x.db?timeout=5s")
                .find("it has busy_timeout=5s, mode=0644, prefix=, retention=1h"),
            std::string::npos);
  EXPECT_NE(error_of("memory:?a=1").find("it has prefix="), std::string::npos);
  EXPECT_NE(error_of("memory:?prefix=a").find("is for locks"), std::string::npos);
  EXPECT_NE(error_of("mongodb://host/?a=1").find("objects=holdfast.objects"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::engines
