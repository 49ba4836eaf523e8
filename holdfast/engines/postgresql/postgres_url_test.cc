#include <holdfast/engines/postgresql/postgres_url.h>

#include <gtest/gtest.h>

#include <holdfast/engines/postgresql/postgres_store.h>

namespace holdfast::engines::postgresql {
namespace {

using namespace std::chrono_literals;

std::string error_of(std::string_view url) {
  const auto options = parse_postgres_url(url);
  return options ? "" : options.error().message;
}

TEST(PostgresUrl, HasDefaults) {
  const auto options = parse_postgres_url("postgresql://db.example");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->conninfo, "postgresql://db.example");
  EXPECT_EQ(options->schema, "holdfast");
  EXPECT_EQ(options->prefix, "");
  EXPECT_EQ(options->retention, 1h);
  EXPECT_EQ(options->commit, PostgresOptions::Commit::as_configured);
  EXPECT_EQ(options->max_connections, 8U);
}

TEST(PostgresUrl, KeepsItsOwnOptionsAndPassesOnThoseOfLibpq) {
  const auto options = parse_postgres_url(
      "postgres://me:p%40s@a.example:1,b.example/app?sslmode=require&schema=my%20locks&prefix=a:"
      "&retention=2h&commit=off&connect_timeout=50ms&reply_timeout=9s&max_connections=5"
      "&target_session_attrs=read-write&options=-c%20geqo%3Doff");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->conninfo,
            "postgres://me:p%40s@a.example:1,b.example/app?sslmode=require"
            "&target_session_attrs=read-write&options=-c%20geqo%3Doff");
  EXPECT_EQ(options->schema, "my locks");
  EXPECT_EQ(options->prefix, "a:");
  EXPECT_EQ(options->retention, 2h);
  EXPECT_EQ(options->commit, PostgresOptions::Commit::off);
  EXPECT_EQ(options->connect_timeout, 50ms);
  EXPECT_EQ(options->reply_timeout, 9s);
  EXPECT_EQ(options->max_connections, 5U);
}

TEST(PostgresUrl, ANumberOfSecondsIsATimeOut) {
  const auto options = parse_postgres_url("postgresql:///app?connect_timeout=10");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->connect_timeout, 10s);
}

TEST(PostgresUrl, NamesWhatIsWrong) {
  const auto names = [](std::string_view url, std::string_view what) {
    const std::string error = error_of(url);
    EXPECT_NE(error.find(what), std::string::npos) << url << ": " << error;
  };
  names("mysql://host", "neither postgresql:// nor postgres://");
  names("postgresql:host", "neither postgresql:// nor postgres://");
  names("postgresql://host/?nothing=1", "has no option 'nothing'; it has schema=holdfast, prefix=");
  names("postgresql://host/?schema", "not of the form name=value");
  names("postgresql://host/?schema=a&schema=b", "the option schema is there twice");
  names("postgresql://host/?schema=", "the schema's name is empty");
  names("postgresql://host/?schema=pg_mine", "begins with pg_");
  names("postgresql://host/?schema=%zz", "in the option schema, a percent sign");
  names("postgresql://ho%zzst/", "a percent sign");
  names("postgresql://host/?retention=1ms", "the retention is shorter");
  names("postgresql://host/?retention=soon", "retention: 'soon' is not a duration");
  names("postgresql://host/?commit=on", "commit is neither configured nor off");
  names("postgresql://host/?max_connections=many", "max_connections is not a number");
  names("postgresql://host/?max_connections=0", "max_connections is 0");
  names("postgresql://host/?reply_timeout=0s", "a time-out");
}

TEST(PostgresUrl, APasswordIsInNoMessage) {
  for (const std::string_view url :
       {"postgresql://user:secret@host/?nothing=1", "postgresql://user:se?secret@host/",
        "postgresql://user:%zzsecret@host/", "postgresql://host/?password=secret&nothing=1",
        "postgresql://host/?password=secret%zz"}) {
    const std::string error = error_of(url);
    EXPECT_NE(error, "") << url;
    EXPECT_EQ(error.find("secret"), std::string::npos) << error;
  }
}

TEST(PostgresUrl, WhatLibpqDoesNotUnderstandIsNamedWithoutThePassword) {
  for (const std::string_view url :
       {"postgresql://user:secret@[::1/app", "postgresql://user:secret@a:1,b:2,c:3/app?port=1,2"}) {
    const auto options = parse_postgres_url(url);
    ASSERT_TRUE(options) << url;
    const auto store = open_store(*options);
    ASSERT_FALSE(store) << url;
    EXPECT_EQ(store.error().code, base::ErrorCode::invalid_argument);
    EXPECT_EQ(store.error().message.find("secret"), std::string::npos) << store.error().message;
  }
}

}  // namespace
}  // namespace holdfast::engines::postgresql
