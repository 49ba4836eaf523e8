#include <holdfast/engines/redis/internal/message.h>

#include <string>

#include <gtest/gtest.h>

namespace holdfast::engines::redis::internal {
namespace {

constexpr std::string_view kId = "00000000000000010000000000000002";

TEST(RedisMessage, AHintIsAKeyOfAnyBytes) {
  const auto message = read_message("hint a key with blanks ");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->plain, "a key with blanks ");
  EXPECT_FALSE(message->granted);
}

TEST(RedisMessage, AGrantSaysToWhichClaim) {
  const std::string text = "grant " + std::string(kId) + " a key";
  const auto message = read_message(text);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->plain, "a key");
  EXPECT_EQ(message->granted, base::LeaseId(1, 2));
}

TEST(RedisMessage, WhatNoScriptWritesIsNoMessage) {
  const std::string id(kId);
  for (const std::string& text :
       {std::string(), std::string("a key"), std::string("grant"), "grant " + id + "0 a key",
        "grant 1763312345000001 " + id + " a key", std::string("grant 1 a key")}) {
    EXPECT_FALSE(read_message(text)) << text;
  }
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
