#include <fstream>

#include <gtest/gtest.h>
#include <tests/support/temporary_folder.h>

#include "apps/holdfast/cli/config.h"

namespace holdfast::cli {

namespace {

TEST(Config, NamesStores) {
  Config config;
  ASSERT_TRUE(add_config(config,
                         "# ours\n"
                         "default = prod\r\n"
                         "\n"
                         "[prod]\n"
                         "  url = redis://app@host:6379?db=2 \n"
                         "password_file=/etc/secret\n"
                         "; a file\n"
                         "[local]\n"
                         "url = sqlite:/srv/a b.db",
                         "one"));
  EXPECT_EQ(config.default_store, "prod");
  ASSERT_EQ(config.stores.size(), 2U);
  EXPECT_EQ(config.stores["prod"].url, "redis://app@host:6379?db=2");
  EXPECT_EQ(config.stores["prod"].password_file, "/etc/secret");
  EXPECT_EQ(config.stores["local"].url, "sqlite:/srv/a b.db");
  EXPECT_EQ(config.stores["local"].file, "one");
}

TEST(Config, ALaterFileReplacesWhatItNamesItself) {
  Config config;
  ASSERT_TRUE(add_config(config, "[a]\nurl=one:\npassword_env=X\n[b]\nurl=two:", "one"));
  ASSERT_TRUE(add_config(config, "[a]\nurl=three:", "two"));
  EXPECT_EQ(config.stores["a"].url, "three:");
  EXPECT_EQ(config.stores["a"].password_env, "");
  EXPECT_EQ(config.stores["b"].url, "two:");
}

TEST(Config, AMistakeIsReportedWithItsLine) {
  for (const char* const wrong :
       {"\nurl = x:", "\nnonsense", "\n[a", "\n[]", "\n[a:b]", "\n[a]b]", "[a]\npassword = secret",
        "\n[a]", "\n[a]\npassword_env = X\n[b]\nurl = x:"}) {
    Config config;
    const auto read = add_config(config, wrong, "the file");
    ASSERT_FALSE(read) << wrong;
    EXPECT_TRUE(read.error().message.starts_with("the file:2: ")) << read.error().message;
    EXPECT_EQ(read.error().message.find("secret"), std::string::npos);
  }
}

TEST(Config, AStoreHasOnePassword) {
  Config config;
  const auto read = add_config(config, "[a]\npassword_env=X\npassword_file=/y\nurl=x:", "one");
  ASSERT_FALSE(read);
  EXPECT_TRUE(read.error().message.starts_with("one:3: ")) << read.error().message;
}

TEST(Config, APasswordIsPutIntoAUrlThatHasNone) {
  EXPECT_EQ(with_password("redis://host:6379/2", "p@s/s:"), "redis://:p%40s%2Fs%3A@host:6379/2");
  EXPECT_EQ(with_password("redis://app@host?db=1", "x"), "redis://app:x@host?db=1");
  EXPECT_EQ(with_password("redis://app:own@host", "x"), "redis://app:own@host");
  EXPECT_EQ(with_password("mongodb://app@a,b/db", "x"), "mongodb://app:x@a,b/db");
  EXPECT_EQ(with_password("sqlite:/a/b@c.db", "x"), "sqlite:/a/b@c.db");
  EXPECT_EQ(with_password("sqlite:///srv/x.db", "x"), "sqlite:///srv/x.db");
  EXPECT_EQ(with_password("memory://", "x"), "memory://");
}

TEST(Config, APasswordIsTheFirstLineOfItsFile) {
  const tests::TemporaryFolder folder;
  const std::string file = (folder / "password").string();
  EXPECT_FALSE(read_password(file));
  std::ofstream(file) << "secret\nmore\n";
  EXPECT_EQ(*read_password(file), "secret");
  EXPECT_EQ(*url_of({.url = "redis://host", .password_file = file}), "redis://:secret@host");
  std::ofstream(file, std::ios::trunc) << "secret\r\n";
  EXPECT_EQ(*read_password(file), "secret");
  std::ofstream(file, std::ios::trunc) << "\n";
  EXPECT_FALSE(read_password(file));
}

}  // namespace

}  // namespace holdfast::cli
