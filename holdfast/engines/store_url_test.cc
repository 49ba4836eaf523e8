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

TEST(StoreUrl, ATextThatIsNotAUrlIsATypedErrorThatQuotesItsScheme) {
  for (const char* text :
       {"", ":", "/path/to/file", "sql ite:/x", "sqlite:/x?option", "sqlite:/x?=1",
        "sqlite:/x?a=1&a=2", "sqlite:/x%2", "sqlite:/x%zz", "sqlite:/x?a=%"}) {
    const auto url = StoreUrl::parse(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, base::ErrorCode::invalid_argument);
    EXPECT_NE(url.error().message.find("'" + without_password(text) + "'"), std::string::npos);
  }
}

TEST(StoreUrl, APasswordIsHidden) {
  EXPECT_EQ(without_password("redis://me:secret@host:1/2?db=1"), "redis://me:***@host:1/2?db=1");
  EXPECT_EQ(without_password("redis://:se:cr@et@host"), "redis://:***@host");
  EXPECT_EQ(without_password("redis+unix://me:secret@/run/redis.sock"),
            "redis+unix://me:***@/run/redis.sock");
  EXPECT_EQ(without_password("redis+sentinel://me:secret@a:1,b/m?sentinel_user=w"
                             "&sentinel_password=secret&ack=1"),
            "redis+sentinel://me:***@a:1,b/m?sentinel_user=w&sentinel_password=***&ack=1");
  EXPECT_EQ(without_password("mongodb://me:secret@a:1,b:2/locks"),
            "mongodb://me:***@a:1,b:2/locks");
  EXPECT_EQ(without_password("redis://host?password=secret"), "redis://host?password=***");
  EXPECT_EQ(without_password("redis://host?db=1;password=secret"), "redis://host?db=***");
  EXPECT_EQ(without_password("mongodb://h/?tlsCertificateKeyFilePassword=secret&tls=true"),
            "mongodb://h/?tlsCertificateKeyFilePassword=***&tls=true");
}

TEST(StoreUrl, AUrlWithoutASecretIsShownAsItIs) {
  for (const std::string_view plain :
       {"sqlite:/a:b@c", "sqlite:/a b?retention=1h", "redis://host:1/x", "redis://me@host:1",
        "redis://[::1]:6379", "mongodb://a,b:27017/locks?replicaSet=r",
        "memory:", "rediss://h?max_pending=7&tls_cert=/c.pem&tls_key=/k.pem",
        "mongodb://h/locks?expiry=30s&ssl=true&tlsCertificateKeyFile=/k.pem"}) {
    EXPECT_EQ(without_password(plain), plain);
  }
}

TEST(StoreUrl, ATextThatCannotBeReadIsNotShownBeyondItsScheme) {
  EXPECT_EQ(without_password("redis:user:secret@host"), "redis:***");
  EXPECT_EQ(without_password("disabled:"), "disabled:");
  EXPECT_EQ(without_password("redis://:se/cr?et@host"), "redis:***");
  EXPECT_EQ(without_password("redis://me:sec/ret@host"), "redis:***");
  EXPECT_EQ(without_password("redis://me:secret"), "redis:***");  // the host was forgotten
  EXPECT_EQ(without_password("redis://host:1/x:y@z"), "redis:***");
  EXPECT_EQ(without_password("redis://host?secret"), "redis://host?***");
  EXPECT_EQ(without_password("/secret"), "***");
  EXPECT_EQ(without_password("my secret: x"), "***");
}

// In a URL without a host, a small number reads as a port: nothing tells them apart.
TEST(StoreUrl, ANumberThatIsNoPortMayBeAPasswordAndIsHidden) {
  EXPECT_EQ(without_password("redis://me:65536"), "redis:***");
  EXPECT_EQ(without_password("redis://me:123456789012345678901234567890"), "redis:***");
  EXPECT_EQ(without_password("mongodb://a:1,me:99999"), "mongodb:***");
  EXPECT_EQ(without_password("redis://me:12345"), "redis://me:12345");
  EXPECT_EQ(without_password("redis://me:65535"), "redis://me:65535");
}

TEST(StoreUrl, APasswordIsNotInTheErrors) {
  for (const char* text :
       {"Redis://u:secret@h?x", "mongodb://u:secret%zz@h", "x://:sec/secret@h?"}) {
    const auto url = StoreUrl::parse(text);
    if (!url) {
      EXPECT_EQ(url.error().message.find("secret"), std::string::npos) << url.error().message;
    }
  }
  EXPECT_FALSE(StoreUrl::parse("Redis://u:secret@h?x"));
}

}  // namespace
}  // namespace holdfast::engines
