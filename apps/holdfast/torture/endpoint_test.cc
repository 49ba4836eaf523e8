#include <string>

#include <gtest/gtest.h>

#include "apps/holdfast/torture/endpoint.h"

namespace holdfast::cli::torture {

namespace {

std::string endpoint(std::string_view url) {
  const auto found = endpoint_of(url);
  return found ? found->host + " " + found->port : "none";
}

TEST(TortureEndpoint, TheServerOfAUrlIsFound) {
  EXPECT_EQ(endpoint("redis://host"), "host 6379");
  EXPECT_EQ(endpoint("redis://user:p@ss@host:7000/2?prefix=a"), "host 7000");
  EXPECT_EQ(endpoint("mongodb://host/db"), "host 27017");
  EXPECT_EQ(endpoint("postgresql://me@host:6000/db"), "host 6000");
  EXPECT_EQ(endpoint("postgres://host"), "host 5432");
  EXPECT_EQ(endpoint("redis://[::1]:7000"), "::1 7000");
  EXPECT_EQ(endpoint("redis://[::1]"), "::1 6379");
}

TEST(TortureEndpoint, WhereNoProxyFitsThereIsNone) {
  for (const char* const url :
       {"sqlite:/path/to/file.db", "redis+unix:///run/redis.sock", "rediss://host", "memory:",
        "mongodb+srv://host/db", "mongodb://one,two/db", "mongodb://host/db?replicaSet=rs",
        "postgresql:///db", "postgresql://%2Frun/db", "postgresql://host/db?sslmode=require"}) {
    EXPECT_EQ(endpoint(url), "none") << url;
  }
}

TEST(TortureEndpoint, TheProxyTakesThePlaceOfTheServerAlone) {
  EXPECT_EQ(with_endpoint("redis://user:p@ss@host:7000/2?prefix=a", 9),
            "redis://user:p@ss@127.0.0.1:9/2?prefix=a");
  EXPECT_EQ(with_endpoint("mongodb://host", 9), "mongodb://127.0.0.1:9");
}

}  // namespace

}  // namespace holdfast::cli::torture
