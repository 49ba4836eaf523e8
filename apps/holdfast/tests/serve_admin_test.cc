#include <fstream>
#include <string>

#include <fmt/core.h>

#include "apps/holdfast/tests/serving.h"

namespace holdfast::cli::testing {

namespace {

constexpr const char* kToken = "a-token-of-the-test-0123";

class ServeAdminTest : public Serving {
 protected:
  void SetUp() override {
    write_token(kToken, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    start_server({"--admin-token-file", token_file()});
  }

  [[nodiscard]] std::string token_file() const { return (folder() / "token").string(); }
  void write_token(const std::string& token, std::filesystem::perms mode) const {
    std::ofstream(token_file()) << token << "\n";
    std::filesystem::permissions(token_file(), mode);
  }
  HttpReply post(const std::string& target, const std::string& body,
                 const std::string& token = kToken,
                 const std::string& headers = "Content-Type: application/json\r\n") {
    return request(port(), "POST", "/api/v1/" + target,
                   headers + "Authorization: Bearer " + token + "\r\n", body);
  }
  [[nodiscard]] bool is_held(const std::string& name) {
    return json({"show", "--json", name})["held"];
  }
};

TEST_F(ServeAdminTest, AStealNeedsTheTokenAndTheNameTwice) {
  EXPECT_EQ(holdfast({"acquire", "--ttl", "1h", "--owner", "ci", "job"}).status, 0);
  const std::string body = R"({"confirm": "job"})";
  EXPECT_EQ(post("steal?name=job", body, "another-token-0123456789").status, 401);
  EXPECT_EQ(post("steal?name=job", body, "a-token-of-the-test-0124").status, 401);
  EXPECT_EQ(
      request(port(), "POST", "/api/v1/steal?name=job", "Content-Type: application/json\r\n", body)
          .status,
      401);
  EXPECT_EQ(post("steal?name=job", R"({"confirm": "other"})").status, 400);
  EXPECT_EQ(post("steal?name=job", "not JSON").status, 400);
  EXPECT_EQ(post("steal?name=job", "[1]").status, 400);
  EXPECT_EQ(post("steal", body).status, 400);
  EXPECT_EQ(get(port(), "/api/v1/steal?name=job").status, 405);
  EXPECT_TRUE(is_held("job"));
  ASSERT_TRUE(eventually([&] { return api("name?name=job")["held"] == true; }));
  const HttpReply stolen = post("steal?name=job", body);
  EXPECT_EQ(stolen.status, 200) << stolen.body;
  EXPECT_EQ(stolen.json()["stolen"][0]["owner"], "ci");
  EXPECT_FALSE(is_held("job"));
  ASSERT_TRUE(eventually([&] { return api("name?name=job")["holds"].size() == 1; }));
  EXPECT_EQ(api("name?name=job")["holds"][0]["end"], "stolen");
}

TEST_F(ServeAdminTest, EveryChangeAndEveryRefusalLeavesALine) {
  EXPECT_EQ(holdfast({"acquire", "--ttl", "1h", "--owner", "ci", "job"}).status, 0);
  EXPECT_EQ(post("steal?name=job", "{}", "another-token-0123456789").status, 401);
  EXPECT_TRUE(starts_with_match(server().read_error_line(),
                                ".*Z holdfast: audit: refused steal job: no or another token$"));
  EXPECT_EQ(post("steal?name=job", R"({"confirm": "job"})").status, 200);
  EXPECT_TRUE(starts_with_match(server().read_error_line(),
                                ".*Z holdfast: audit: stole job from ci, who had held it for "));
}

TEST_F(ServeAdminTest, RequestsOfOtherSitesAreRefusedWithAnyToken) {
  EXPECT_EQ(holdfast({"acquire", "--ttl", "1h", "job"}).status, 0);
  const std::string body = R"({"confirm": "job"})";
  const std::string json_type = "Content-Type: application/json\r\n";
  EXPECT_EQ(
      post("steal?name=job", body, kToken, json_type + "Origin: http://evil.example\r\n").status,
      403);
  EXPECT_EQ(
      post("steal?name=job", body, kToken, json_type + "Sec-Fetch-Site: cross-site\r\n").status,
      403);
  EXPECT_EQ(post("steal?name=job", body, kToken, json_type + "Host: evil.example\r\n").status, 421);
  // A form of another site can send these.
  EXPECT_EQ(post("steal?name=job", body, kToken, "Content-Type: text/plain\r\n").status, 415);
  EXPECT_EQ(post("steal?name=job", body, kToken, "").status, 415);
  EXPECT_TRUE(is_held("job"));
}

TEST_F(ServeAdminTest, MarksAreClearedAndPeriodsReset) {
  EXPECT_EQ(holdfast({"mark", "cache", "--ttl", "1h"}).status, 0);
  EXPECT_EQ(post("clear?name=cache", R"({"confirm": "cache"})").json()["outcome"], "cleared");
  EXPECT_EQ(holdfast({"marked", "cache"}).status, 1);
  EXPECT_EQ(holdfast({"once", "--per", "1h", "nightly", "--", "true"}).status, 0);
  EXPECT_EQ(post("reset?name=nightly", R"({"confirm": "nightly"})").json()["outcome"], "reset");
  const auto running =
      start({"once", "--per", "1h", "nightly", "--", "sh", "-c", "echo ready; read line"});
  EXPECT_EQ(running->read_line(), "ready");
  EXPECT_EQ(post("reset?name=nightly", R"({"confirm": "nightly"})").status, 409);
}

TEST_F(ServeAdminTest, ANameOfAnyBytesIsConfirmedByItsId) {
  const std::string name("\xff\x00/", 3);
  ASSERT_TRUE(open_store()->claim(name, {.id = base::LeaseId::generate(),
                                         .owner = "ci",
                                         .reason = "",
                                         .ttl = std::chrono::hours(1)}));
  EXPECT_EQ(post("steal?name=%FF%00%2F", R"({"confirm": "%FF%00%2F"})").status, 200);
  EXPECT_EQ(open_store()->look(name)->has_value(), false);
}

TEST_F(ServeAdminTest, ATokenThatOthersCanReadOrGuessIsRefused) {
  const auto refused = [&] {
    return holdfast({"serve", "--listen", "127.0.0.1:0", "--admin-token-file", token_file()});
  };
  using std::filesystem::perms;
  write_token("short", perms::owner_read);
  EXPECT_NE(refused().errors.find("fewer than 16"), std::string::npos);
  write_token(kToken, perms::owner_read | perms::others_read);
  EXPECT_NE(refused().errors.find("chmod 600"), std::string::npos);
  std::filesystem::remove(token_file());
  EXPECT_EQ(refused().status, 64);
}

}  // namespace

}  // namespace holdfast::cli::testing
