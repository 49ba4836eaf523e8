#include <string>

#include <gtest/gtest.h>

#include <holdfast/engines/redis/internal/connection/command.h>
#include <holdfast/engines/redis/internal/connection/reply_reader.h>

namespace holdfast::engines::redis::internal {
namespace {

using Kind = Reply::Kind;

Reply read_one(std::string_view bytes) {
  ReplyReader reader;
  EXPECT_TRUE(reader.feed(bytes));
  auto reply = reader.next();
  EXPECT_TRUE(reply && *reply) << bytes;
  return **reply;
}

TEST(Command, IsWhatTheServerReads) {
  EXPECT_EQ(Command("PING").bytes(), "*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(
      Command("SET", std::string("k\0y", 3), "", "PX", -5).bytes(),
      std::string_view("*5\r\n$3\r\nSET\r\n$3\r\nk\0y\r\n$0\r\n\r\n$2\r\nPX\r\n$2\r\n-5\r\n", 44));
}

TEST(Command, TakesAnyNumberOfArguments) {
  Command command("DEL");
  for (int i = 0; i < 1234; ++i) {
    command.add("k");
  }
  EXPECT_TRUE(command.bytes().starts_with("*1235\r\n$3\r\nDEL\r\n$1\r\nk\r\n"));
  EXPECT_EQ(command.bytes().size(), 7U + 9U + (1234U * 7U));
}

TEST(Command, CarriesTheTextOfItsScriptInPlaceOfTheSha) {
  constexpr Script kScript = {.sha = "sha", .text = "return 1"};
  Command known(kScript);
  known.add(1).add("key").add("argument");
  EXPECT_EQ(known.bytes(), Command("EVALSHA", "sha", 1, "key", "argument").bytes());
  EXPECT_EQ(known.with_text().bytes(), Command("EVAL", "return 1", 1, "key", "argument").bytes());
}

TEST(ReplyReader, ReadsEveryKind) {
  EXPECT_TRUE(read_one("$-1\r\n").is_nil());
  EXPECT_TRUE(read_one("*-1\r\n").is_nil());
  EXPECT_EQ(read_one(":-42\r\n"), Reply::of_integer(-42));
  EXPECT_EQ(read_one("+OK\r\n"), Reply::of_text(Kind::status, "OK"));
  EXPECT_EQ(read_one("$5\r\na\r\nbc\r\n"), Reply::of_text(Kind::string, "a\r\nbc"));
  EXPECT_EQ(read_one("*0\r\n"), Reply::of_array({}));
  const Reply error = read_one("-NOSCRIPT No matching script\r\n");
  EXPECT_TRUE(error.is_error("NOSCRIPT"));
  EXPECT_FALSE(error.is_error("NOS"));
}

TEST(ReplyReader, ReadsArraysInArrays) {
  EXPECT_EQ(
      read_one("*3\r\n:1\r\n*2\r\n$1\r\na\r\n*0\r\n$-1\r\n"),
      Reply::of_array({Reply::of_integer(1),
                       Reply::of_array({Reply::of_text(Kind::string, "a"), Reply::of_array({})}),
                       Reply()}));
}

TEST(ReplyReader, ReadsRepliesThatComeInPieces) {
  const std::string_view bytes = "*2\r\n$3\r\nabc\r\n*1\r\n:7\r\n+OK\r\n";
  ReplyReader reader;
  std::vector<Reply> replies;
  for (const char& byte : bytes) {
    ASSERT_TRUE(reader.feed({&byte, 1}));
    for (auto reply = reader.next(); reply && *reply; reply = reader.next()) {
      replies.push_back(**reply);
    }
  }
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_EQ(replies[0].elements()[1].elements()[0].integer(), 7);
  EXPECT_EQ(replies[1].text(), "OK");
}

TEST(ReplyReader, RefusesWhatIsNotTheProtocol) {
  for (const std::string_view bytes :
       {"HTTP/1.1 400 Bad Request\r\n", "$x\r\n", "*2000000\r\n", ":1x\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"}) {
    ReplyReader reader;
    ASSERT_TRUE(reader.feed(bytes));
    const auto reply = reader.next();
    ASSERT_FALSE(reply) << bytes;
    EXPECT_EQ(reply.error().code, base::ErrorCode::unavailable);
  }
}

TEST(ReplyReader, RefusesAReplyWithoutEnd) {
  ReplyReader reader;
  const std::string piece(std::size_t{1} << 20U, 'x');
  ASSERT_TRUE(reader.feed("$536870912\r\n"));
  std::size_t fed = 0;
  while (reader.feed(piece) && reader.next()) {
    fed += piece.size();
    ASSERT_LE(fed, 2 * ReplyLimits{}.bytes);
  }
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
