#include <holdfast/engines/store_url.h>

#include <gtest/gtest.h>

namespace holdfast::engines {
namespace {

using Options = std::map<std::string, std::string>;

TEST(StoreUrl, IsASchemeARestAndOptions) {
  const auto url = StoreUrl::parse("sqlite:/var/lib/locks.db?busy_timeout=5s&retention=24h");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, "sqlite");
  EXPECT_EQ(url->rest, "/var/lib/locks.db");
  EXPECT_EQ(url->options, (Options{{"busy_timeout", "5s"}, {"retention", "24h"}}));
}

TEST(StoreUrl, RestAndOptionsMayBeMissing) {
  const auto url = StoreUrl::parse("memory:");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, "memory");
  EXPECT_EQ(url->rest, "");
  EXPECT_TRUE(url->options.empty());
}

TEST(StoreUrl, PercentEscapesAreResolved) {
  const auto url = StoreUrl::parse("sqlite:/a%20b%3F%25.db?x=%26%3d");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->rest, "/a b?%.db");
  EXPECT_EQ(url->options, (Options{{"x", "&="}}));
}

TEST(StoreUrl, WhatIsNotAUrlIsATypedErrorThatQuotesIt) {
  for (const char* text : {"", ":", "/path/to/file", "sql ite:/x", "sqlite:/x?option", "sqlite:/x?=1",
                           "sqlite:/x?a=1&a=2", "sqlite:/x%2", "sqlite:/x%zz", "sqlite:/x?a=%"}) {
    const auto url = StoreUrl::parse(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, base::ErrorCode::invalid_argument);
    EXPECT_NE(url.error().message.find("'" + std::string(text) + "'"), std::string::npos);
  }
}

}  // namespace
}  // namespace holdfast::engines
