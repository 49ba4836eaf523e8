#include <holdfast/engines/redis/redis_url.h>

#include <gtest/gtest.h>

namespace holdfast::engines::redis {
namespace {

using namespace std::chrono_literals;

std::string error_of(std::string_view url) {
  const auto options = parse_redis_url(url);
  return options ? "" : options.error().message;
}

TEST(RedisUrl, NamesTheLocalServerIfItSaysNothing) {
  const auto options = parse_redis_url("redis://");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->host, "localhost");
  EXPECT_EQ(options->port, 6379);
  EXPECT_EQ(options->database, 0U);
  EXPECT_FALSE(options->tls);
}

TEST(RedisUrl, HasAllItsParts) {
  const auto options = parse_redis_url(
      "redis://me:p%40s%2Fs%3A%00@db.example:7000/3?prefix=a%26b:&retention=2h&connect_timeout=50ms"
      "&reply_timeout=9s&max_pending=5&max_pending_bytes=7000&yield_every=3s&ack=2&ack_timeout="
      "300ms");
  ASSERT_TRUE(options) << error_of("redis://");
  EXPECT_EQ(options->user, "me");
  EXPECT_EQ(options->password, std::string("p@s/s:\0", 7));
  EXPECT_EQ(options->host, "db.example");
  EXPECT_EQ(options->port, 7000);
  EXPECT_EQ(options->database, 3U);
  EXPECT_EQ(options->prefix, "a&b:");
  EXPECT_EQ(options->retention, 2h);
  EXPECT_EQ(options->connect_timeout, 50ms);
  EXPECT_EQ(options->reply_timeout, 9s);
  EXPECT_EQ(options->max_pending, 5U);
  EXPECT_EQ(options->max_pending_bytes, 7000U);
  EXPECT_EQ(options->yield_every, 3s);
  EXPECT_EQ(options->ack, 2U);
  EXPECT_EQ(options->ack_timeout, 300ms);
  EXPECT_EQ(parse_redis_url("redis://h?yield_every=never")->yield_every, 0s);
}

TEST(RedisUrl, KnowsAddressesInBrackets) {
  EXPECT_EQ(parse_redis_url("redis://[::1]:6380")->host, "::1");
  EXPECT_EQ(parse_redis_url("redis://[::1]:6380")->port, 6380);
  EXPECT_EQ(parse_redis_url("redis://[::1]")->port, 6379);
  EXPECT_NE(error_of("redis://[::1"), "");
  EXPECT_NE(error_of("redis://["), "");
  EXPECT_NE(error_of("redis://[::1]x"), "");
}

TEST(RedisUrl, KnowsUnixSockets) {
  const auto options = parse_redis_url("redis+unix://:pw@/run/my%20redis.sock?db=2");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->unix_socket, "/run/my redis.sock");
  EXPECT_EQ(options->password, "pw");
  EXPECT_EQ(options->database, 2U);
  EXPECT_NE(error_of("redis+unix://host/path"), "");
  EXPECT_NE(error_of("redis+unix://"), "");
}

TEST(RedisUrl, KnowsTls) {
  const auto options = parse_redis_url(
      "rediss://host?tls_ca=/etc/ca.pem&tls_cert=/c.pem&tls_key=/k.pem&tls_verify=none");
  ASSERT_TRUE(options);
  ASSERT_TRUE(options->tls);
  EXPECT_EQ(options->tls->ca_file, "/etc/ca.pem");
  EXPECT_EQ(options->tls->certificate_file, "/c.pem");
  EXPECT_EQ(options->tls->key_file, "/k.pem");
  EXPECT_EQ(options->tls->verify, TlsOptions::Verify::none);
  EXPECT_EQ(parse_redis_url("rediss://host")->tls->verify, TlsOptions::Verify::full);
}

TEST(RedisUrl, KnowsSentinels) {
  const auto options = parse_redis_url(
      "redis+sentinel://me:p%40w@s1:26380,s2,[::1]:7000/my%20master/3?sentinel_user=watch"
      "&sentinel_password=s%2Fw&prefix=a:");
  ASSERT_TRUE(options);
  ASSERT_TRUE(options->sentinel);
  ASSERT_EQ(options->sentinel->nodes.size(), 3U);
  EXPECT_EQ(options->sentinel->nodes[0].host, "s1");
  EXPECT_EQ(options->sentinel->nodes[0].port, 26380);
  EXPECT_EQ(options->sentinel->nodes[1].host, "s2");
  EXPECT_EQ(options->sentinel->nodes[1].port, 26379);
  EXPECT_EQ(options->sentinel->nodes[2].host, "::1");
  EXPECT_EQ(options->sentinel->nodes[2].port, 7000);
  EXPECT_EQ(options->sentinel->master_name, "my master");
  EXPECT_EQ(options->sentinel->user, "watch");
  EXPECT_EQ(options->sentinel->password, "s/w");
  EXPECT_EQ(options->user, "me");
  EXPECT_EQ(options->password, "p@w");
  EXPECT_EQ(options->database, 3U);
  EXPECT_EQ(options->prefix, "a:");
  EXPECT_FALSE(options->tls);
}

TEST(RedisUrl, KnowsSentinelsBehindTls) {
  const auto options = parse_redis_url("rediss+sentinel://s1/m?tls_ca=/ca.pem");
  ASSERT_TRUE(options);
  ASSERT_TRUE(options->tls);
  EXPECT_EQ(options->tls->ca_file, "/ca.pem");
  EXPECT_EQ(options->sentinel->master_name, "m");
  EXPECT_NE(error_of("redis+sentinel://s1/m?tls_ca=x").find("no option 'tls_ca'"),
            std::string::npos);
}

TEST(RedisUrl, NamesWhatIsWrongWithSentinels) {
  EXPECT_NE(error_of("redis+sentinel://s1").find("name of the master"), std::string::npos);
  EXPECT_NE(error_of("redis+sentinel://s1//3").find("name of the master"), std::string::npos);
  EXPECT_NE(error_of("redis+sentinel://s1,,s2/m").find("a host is missing"), std::string::npos);
  EXPECT_NE(error_of("redis+sentinel://s1,s2:0/m").find("port is not a number"), std::string::npos);
  EXPECT_NE(error_of("redis+sentinel://s1/m/x").find("database is not a number"),
            std::string::npos);
  EXPECT_NE(error_of("redis://h?sentinel_user=x").find("no option 'sentinel_user'"),
            std::string::npos);
}

TEST(RedisUrl, NamesWhatIsWrong) {
  EXPECT_NE(error_of("http://x").find("redis://"), std::string::npos);
  EXPECT_NE(error_of("redis:x").find("//"), std::string::npos);
  EXPECT_NE(error_of("redis://h:0").find("port is not a number from 1"), std::string::npos);
  EXPECT_NE(error_of("redis://h:70000").find("port is not a number from 1 to 65535"),
            std::string::npos);
  EXPECT_NE(error_of("redis://h/x").find("database is not a number"), std::string::npos);
  EXPECT_NE(error_of("redis://h?tiemout=1s").find("no option 'tiemout'"), std::string::npos);
  EXPECT_NE(error_of("redis://h?tls_ca=x").find("no option 'tls_ca'"), std::string::npos);
  EXPECT_NE(error_of("redis://h?db=1&db=2").find("db is there twice"), std::string::npos);
  EXPECT_NE(error_of("redis://h?connect_timeout=0s").find("connect_timeout"), std::string::npos);
  EXPECT_NE(error_of("redis://h?reply_timeout=soon").find("reply_timeout"), std::string::npos);
  EXPECT_NE(error_of("redis://h?max_pending=0").find("max_pending"), std::string::npos);
  EXPECT_NE(error_of("redis://h?prefix").find("name=value"), std::string::npos);
  EXPECT_NE(error_of("redis://h?prefix=%zz").find("prefix"), std::string::npos);
  EXPECT_NE(error_of("rediss://h?tls_verify=maybe").find("tls_verify"), std::string::npos);
  EXPECT_NE(error_of("rediss://h?tls_cert=x").find("tls_key"), std::string::npos);
  EXPECT_NE(error_of("redis://me@h").find("password"), std::string::npos);
  // The password has a slash that is not escaped.
  EXPECT_NE(error_of("redis://:sec/ret@h").find("%2F"), std::string::npos);
  EXPECT_EQ(error_of("redis://:sec/ret@h").find("sec/"), std::string::npos);
  EXPECT_EQ(error_of("redis://:sec/ret@h").find("'sec'"), std::string::npos);
}

TEST(RedisUrl, KeepsThePasswordToItself) {
  for (const std::string_view url :
       {"redis://me:secret@h:0", "redis://me:secret@h?nothing=1", "redis://me:secret%@h",
        "rediss://me:secret@h?tls_verify=x", "redis+unix://me:secret@", "redis//me:secret@h"}) {
    const std::string error = error_of(url);
    EXPECT_NE(error, "") << url;
    EXPECT_EQ(error.find("secret"), std::string::npos) << error;
  }
}

TEST(RedisUrl, QuotesNoOptionThatMayBeTheRestOfAPassword) {
  for (const char* const text :
       {"redis://me:1?se=cret@host", "redis://me:1?connect_timeout=cret@host"}) {
    const auto options = parse_redis_url(text);
    ASSERT_FALSE(options) << text;
    EXPECT_EQ(options.error().message.find("cret"), std::string::npos) << options.error().message;
    EXPECT_NE(options.error().message.find("%3F"), std::string::npos) << options.error().message;
  }
  EXPECT_TRUE(parse_redis_url("redis://host?prefix=a@b"));
}

TEST(RedisUrl, ListsTheOptionsOfAScheme) {
  for (const std::string_view scheme :
       {"redis", "rediss", "redis+unix", "redis+sentinel", "rediss+sentinel"}) {
    const std::string place = scheme == "redis+unix"          ? ":///s?"
                              : scheme.ends_with("+sentinel") ? "://h/m?"
                                                              : "://h?";
    for (const std::string& option : redis_url_options(scheme)) {
      if (!option.starts_with("tls_cert") && !option.starts_with("tls_key")) {
        EXPECT_TRUE(parse_redis_url(std::string(scheme) + place + option)) << option;
      }
    }
  }
  EXPECT_LT(redis_url_options("redis").size(), redis_url_options("rediss").size());
}

}  // namespace
}  // namespace holdfast::engines::redis
