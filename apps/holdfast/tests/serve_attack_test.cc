#include <sys/resource.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "apps/holdfast/tests/serving.h"

namespace holdfast::cli::testing {

namespace {

using ServeAttackTest = Serving;

TEST_F(ServeAttackTest, AnyBytesAreNamesOwnersAndReasons) {
  const std::string script = "<script>alert(1)</script>";
  const std::string backwards = "\u202Egnp.exe";
  const std::string binary("\xff\x00\x01\n\"'", 6);
  const std::string longest(1024, 'x');
  const auto store = open_store();
  for (const std::string& name : {script, backwards, binary, longest}) {
    ASSERT_TRUE(store->claim(name, {.id = base::LeaseId::generate(),
                                    .owner = script,
                                    .reason = backwards,
                                    .ttl = std::chrono::hours(1)}));
  }
  ASSERT_TRUE(eventually([&] { return api("names")["total"] == 4; }));
  const HttpReply reply = get(port(), "/api/v1/names");
  EXPECT_EQ(reply.headers.at("content-type"), "application/json");
  EXPECT_EQ(reply.headers.at("x-content-type-options"), "nosniff");
  // Nothing that changes how the rest of it is shown.
  EXPECT_EQ(reply.body.find("\u202E"), std::string::npos);
  const auto names = reply.json()["names"];
  ASSERT_EQ(names.size(), 4U);
  for (const auto& name : names) {
    EXPECT_EQ(name["holders"][0]["owner"], script);
    EXPECT_EQ(name["holders"][0]["reason"], backwards);
    // Its id leads to it, also where the name is no UTF-8.
    const auto one = api("name?name=" + name["id"].get<std::string>());
    EXPECT_EQ(one["held"], true) << name["id"];
    EXPECT_EQ(one["id"], name["id"]);
  }
  EXPECT_EQ(api("name?name=%FF%00%01%0A%22%27")["held"], true);
  EXPECT_EQ(get(port(), "/api/v1/name?name=" + std::string(1025, 'x')).status, 400);
  EXPECT_EQ(get(port(), "/api/v1/name?name=").status, 400);
  EXPECT_EQ(get(port(), "/api/v1/name").status, 400);
  EXPECT_EQ(get(port(), "/api/v1/name?name=%zz").status, 400);
}

TEST_F(ServeAttackTest, ANameThatLeadsHereIsNotAnswered) {
  EXPECT_EQ(get(port(), "/api/v1/names", "Host: evil.example\r\n").status, 421);
  EXPECT_EQ(get(port(), "/api/v1/names", "Host: localhost.evil.example\r\n").status, 421);
  EXPECT_EQ(get(port(), "/api/v1/names", "Host: localhost\r\nHost: evil.example\r\n").status, 400);
  EXPECT_EQ(get(port(), "/metrics", "Host: evil.example\r\n").status, 421);
  EXPECT_EQ(get(port(), "/api/v1/names", "Host: LOCALHOST:1\r\n").status, 200);
  HttpClient client(port());
  client.send("GET /api/v1/names HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.read().status, 400);
}

TEST_F(ServeAttackTest, PagesOfOtherSitesAreNotAnswered) {
  const std::string host = "Host: localhost\r\n";
  EXPECT_EQ(get(port(), "/api/v1/names", host + "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(get(port(), "/api/v1/names", host + "Origin: null\r\n").status, 403);
  EXPECT_EQ(get(port(), "/api/v1/names", host + "Sec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_EQ(get(port(), "/api/v1/names", host + "Sec-Fetch-Site: same-site\r\n").status, 403);
  // However its path is written.
  for (const char* const target :
       {"/%61pi/v1/names", "/%61%70%69/v1/names", "/metrics", "/healthz", "/icon.svg"}) {
    EXPECT_EQ(get(port(), target, host + "Sec-Fetch-Site: cross-site\r\n").status, 403) << target;
  }
  EXPECT_EQ(get(port(), "/", host + "Sec-Fetch-Site: cross-site\r\n").status, 200);
  EXPECT_EQ(get(port(), "/api/v1/names", host + "Sec-Fetch-Site: same-origin\r\n").status, 200);
  EXPECT_EQ(get(port(), "/api/v1/names", host + "Origin: http://localhost\r\n").status, 200);
  // No other site may read it, nor frame it.
  EXPECT_FALSE(get(port(), "/api/v1/names").headers.contains("access-control-allow-origin"));
}

TEST_F(ServeAttackTest, NothingIsChangedByAnyMethod) {
  EXPECT_EQ(holdfast({"acquire", "--ttl", "1h", "job"}).status, 0);
  for (const char* const method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"}) {
    for (const char* const target : {"/api/v1/name?name=job", "/api/v1/names"}) {
      const HttpReply reply = request(port(), method, target);
      EXPECT_EQ(reply.status, 405) << method;
      EXPECT_EQ(reply.headers.at("allow"), "GET, HEAD");
    }
    EXPECT_EQ(request(port(), method, "/api/v1/steal?name=job").status, 404) << method;
  }
  EXPECT_EQ(json({"show", "--json", "job"})["held"], true);
}

TEST_F(ServeAttackTest, EveryResponseForbidsScriptsOfOthersAndFrames) {
  for (const auto& [target, headers] : std::vector<std::pair<std::string, std::string>>{
           {"/icon.svg", ""},
           {"/api/v1/names", ""},
           {"/nowhere", ""},
           {"/metrics", ""},
           {"/api/v1/names", "Host: evil.example\r\n"}}) {
    const HttpReply reply = get(port(), target, headers);
    const std::string policy = reply.headers.at("content-security-policy");
    EXPECT_NE(policy.find("default-src 'none'; script-src 'self'"), std::string::npos);
    EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos);
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    EXPECT_FALSE(reply.headers.contains("set-cookie"));
  }
}

TEST_F(ServeAttackTest, RequestsThatAreTooLargeOrNoRequestsAreRefused) {
  const std::string large(20'000, 'x');
  EXPECT_EQ(get(port(), "/api/v1/names?search=" + large).status, 431);
  EXPECT_EQ(get(port(), "/api/v1/names", "X: " + large + "\r\n").status, 431);
  EXPECT_EQ(request(port(), "POST", "/api/v1/names", {}, large).status, 413);
  for (const std::string_view text :
       {"hello\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET  HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /api/v1/names HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n"}) {
    HttpClient client(port());
    client.send(text);
    EXPECT_EQ(client.read().status, 400) << text;
  }
  EXPECT_EQ(get(port(), "/../../etc/passwd").status, 404);
  EXPECT_EQ(get(port(), "/%2e%2e/etc/passwd").status, 404);
  EXPECT_EQ(get(port(), "/healthz").status == 200 || get(port(), "/healthz").status == 503, true);
}

TEST_F(ServeAttackTest, AThousandIdleConnectionsDoNotStopIt) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  constexpr int kIdle = 1000;
  std::vector<std::unique_ptr<HttpClient>> idle;
  for (int i = 0; i < kIdle; ++i) {
    idle.push_back(std::make_unique<HttpClient>(port()));
    if (i % 2 == 0) {
      idle.back()->send("GET /api/v1/names HTTP/1.1\r\nHost: loc");
    }
  }
  EXPECT_EQ(get(port(), "/api/v1/names").status, 200);
  EXPECT_TRUE(eventually([&] {
    const std::string text = get(port(), "/metrics").body;
    const std::size_t at = text.find("\nholdfast_serve_connections_total{fate=\"accepted\"} ");
    return at != std::string::npos && std::stoi(text.substr(text.find(' ', at + 2))) >= kIdle;
  }));
}

}  // namespace

}  // namespace holdfast::cli::testing
