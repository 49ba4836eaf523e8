#include <holdfast/base/url_values.h>

#include <cstdint>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

TEST(UrlValues, ATextHasNoPercentEscapes) {
  EXPECT_EQ(url_text("user", "a%20b").value(), "a b");
  EXPECT_EQ(url_text("user", "50%").error().code, ErrorCode::invalid_argument);
  EXPECT_NE(url_text("user", "50%").error().message.find("in the user"), std::string::npos);
}

TEST(UrlValues, ADurationHasAUnit) {
  EXPECT_EQ(url_duration("retention", "5s").value(), 5s);
  EXPECT_TRUE(url_duration("retention", "soon").error().message.starts_with("retention: "));
}

TEST(UrlValues, ANumberIsWithinItsBounds) {
  EXPECT_EQ(url_number<std::uint16_t>("port", "6379", 1, 65535).value(), 6379);
  for (const std::string_view text : {"", "0", "65536", "1x", "x", "-1", "secret"}) {
    const auto number = url_number<std::uint16_t>("port", text, 1, 65535);
    ASSERT_FALSE(number) << text;
    EXPECT_NE(number.error().message.find("port is not a number from 1 to 65535"),
              std::string::npos);
    EXPECT_EQ(number.error().message.find("secret"), std::string::npos);
  }
}

TEST(UrlValues, AQueryIsReadOptionByOption) {
  std::string read;
  const auto add = [&](std::string_view name, std::string_view value) {
    read.append(name).append(" is ").append(value).append("; ");
    return Result<void>();
  };
  EXPECT_TRUE(for_each_url_option("", add));
  EXPECT_TRUE(for_each_url_option("a=1&b=&c=x=y", add));
  EXPECT_EQ(read, "a is 1; b is ; c is x=y; ");
  for (const std::string_view query : {"a", "=1", "a=1&&b=2", "a=1&b=2&A=3"}) {
    EXPECT_FALSE(for_each_url_option(query, add)) << query;
  }
}

TEST(UrlValues, AnErrorOfAnOptionEndsTheQuery) {
  int calls = 0;
  const auto refuse = [&](std::string_view, std::string_view) -> Result<void> {
    ++calls;
    return fail(ErrorCode::invalid_argument, "no");
  };
  EXPECT_EQ(for_each_url_option("a=1&b=2", refuse).error().message, "no");
  EXPECT_EQ(calls, 1);
}

TEST(UrlValues, NoErrorShowsTheRestOfAPassword) {
  const Error error{ErrorCode::invalid_argument, "there is no option 'se'"};
  EXPECT_EQ(without_rest_of_password("se=1", error).message, error.message);
  EXPECT_EQ(without_rest_of_password("se=cret@host", error).message.find("'se'"),
            std::string::npos);
}

}  // namespace
}  // namespace holdfast::base
