#include <string>

#include <gtest/gtest.h>

#include "apps/holdfast/serve/listen_address.h"
#include "apps/holdfast/serve/target.h"

namespace holdfast::cli::serve {

namespace {

TEST(TargetTest, AnyBytesReturnFromTheirId) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  const auto target = Target::parse("/api?name=" + id_of(all) + "&other=");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api");
  EXPECT_EQ(*target->find("name"), all);
  EXPECT_EQ(*target->find("other"), "");
  EXPECT_EQ(target->find("none"), nullptr);
  EXPECT_EQ(id_of("a/b c"), "a%2Fb%20c");
}

TEST(TargetTest, WhatIsAmbiguousIsRefused) {
  for (const char* const text : {"", "*", "http://a/", "/%", "/%2", "/?a=%x0", "/?a=1&a=2"}) {
    EXPECT_FALSE(Target::parse(text)) << text;
  }
  EXPECT_TRUE(Target::parse("/?"));
  EXPECT_TRUE(Target::parse("/?a"));
}

TEST(TargetTest, NumbersAreWholeAndBounded) {
  const auto target = Target::parse("/?a=7&b=-1&c=8x&d=99999999999999999999");
  ASSERT_TRUE(target);
  EXPECT_EQ(*target->number("a", 1, 7), 7U);
  EXPECT_EQ(*target->number("none", 1, 7), 1U);
  EXPECT_FALSE(target->number("a", 1, 6));
  EXPECT_FALSE(target->number("b", 1, 7));
  EXPECT_FALSE(target->number("c", 1, 70));
  EXPECT_FALSE(target->number("d", 1, 7));
}

TEST(ListenAddressTest, OnlyAddressesOfThisMachineAreLoopback) {
  EXPECT_TRUE(ListenAddress::parse("127.0.0.1:7447")->is_loopback());
  EXPECT_TRUE(ListenAddress::parse("localhost:0")->is_loopback());
  EXPECT_TRUE(ListenAddress::parse("[::1]:80")->is_loopback());
  EXPECT_EQ(ListenAddress::parse("[::1]:80")->url_host(), "[::1]");
  EXPECT_FALSE(ListenAddress::parse("0.0.0.0:80")->is_loopback());
  EXPECT_FALSE(ListenAddress::parse("[::]:80")->is_loopback());
  for (const char* const text : {"", ":", "7447", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                                 "example.org:80", "::1:80", "127.0.0.1:80x"}) {
    EXPECT_FALSE(ListenAddress::parse(text)) << text;
  }
}

}  // namespace

}  // namespace holdfast::cli::serve
