#include <csignal>
#include <string>

#include <tests/support/certificates.h>
#include <tests/support/redis_server.h>

#include "apps/holdfast/tests/serving.h"

namespace holdfast::cli::testing {

namespace {

class ServeTest : public Serving {
 protected:
  // Removes what passes while two programs look one after the other.
  static nlohmann::json without_times(nlohmann::json name) {
    name.erase("id");
    name.erase("waiter_count");
    for (auto& holder : name["holders"]) {
      holder.erase("held_for_ms");
      holder.erase("time_left_ms");
    }
    for (auto& waiter : name["waiters"]) {
      waiter.erase("waited_ms");
    }
    return name;
  }
  // Waits until the server has seen a name held.
  [[nodiscard]] bool sees(const std::string& name) const {
    return eventually([&] { return api("name?name=" + name)["held"] == true; });
  }
};

TEST_F(ServeTest, NamesAreThoseOfTheCommand) {
  const auto holder = start_holder({"--owner", "ci", "--reason", "deploy 812", "job"});
  const auto other = start_holder({"other"});
  ASSERT_TRUE(eventually([&] { return api("names")["total"] == 2; }));
  const auto listed = json({"ls", "--json"})["names"];
  const auto served = api("names")["names"];
  ASSERT_EQ(served.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(without_times(served[i]), without_times(listed[i]));
  }
}

TEST_F(ServeTest, WaitersAreInTheOrderInWhichTheyCame) {
  const auto holder = start_holder({"job"});
  const auto first = start({"run", "-q", "--owner", "first", "job", "--", "true"});
  ASSERT_TRUE(eventually([&] { return api("name?name=job")["waiters"].size() == 1; }));
  const auto second = start({"run", "-q", "--owner", "second", "job", "--", "true"});
  ASSERT_TRUE(eventually([&] { return api("name?name=job")["waiters"].size() == 2; }));
  const auto waiters = api("waiters");
  EXPECT_EQ(waiters["names"][0]["waiter_count"], 2);
  EXPECT_EQ(waiters["names"][0]["waiters"][0]["owner"], "first");
  EXPECT_EQ(waiters["names"][0]["waiters"][1]["owner"], "second");
  EXPECT_TRUE(waiters["deadlocks"].empty());
  EXPECT_EQ(api("names?waited=true")["total"], 1);
}

TEST_F(ServeTest, ANameHasItsPastHoldersAndWaiters) {
  auto holder = start_holder({"--owner", "first", "job"});
  const auto waiter = start(
      {"run", "-q", "--owner", "second", "job", "--", "sh", "-c", "echo ready; read line; true"});
  ASSERT_TRUE(eventually([&] { return api("name?name=job")["waiters"].size() == 1; }));
  EXPECT_EQ(holder->wait(), 0);
  EXPECT_EQ(waiter->read_line(), "ready");
  ASSERT_TRUE(eventually([&] { return api("name?name=job")["waits"].size() == 1; }));
  EXPECT_EQ(api("name?name=job")["waits"][0]["end"], "granted");
  waiter->write("end\n");
  ASSERT_TRUE(eventually([&] { return api("name?name=job")["holds"].size() == 2; }));
  const auto name = api("name?name=job");
  EXPECT_EQ(name["held"], false);
  EXPECT_EQ(name["holds"][0]["owner"], "first");
  EXPECT_EQ(name["holds"][0]["end"], "released");
  EXPECT_TRUE(name["holds"][0]["waited_ms"].is_null());
  EXPECT_EQ(name["holds"][1]["owner"], "second");
  EXPECT_GT(name["holds"][1]["waited_ms"], 0);
  EXPECT_GT(name["holds"][1]["token"], name["holds"][0]["token"]);
}

TEST_F(ServeTest, ALeaseThatExpiredIsALossInTheHistory) {
  // Long enough to be seen on a machine that is slow.
  EXPECT_EQ(holdfast({"acquire", "--ttl", "3s", "job"}).status, 0);
  ASSERT_TRUE(eventually([&] { return !api("name?name=job")["holds"].empty(); }));
  const auto name = api("name?name=job");
  EXPECT_EQ(name["holds"][0]["end"], "expired");
  const auto events = api("events")["events"];
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1]["event"], "expired");
  EXPECT_EQ(events[1]["name"], "job");
}

TEST_F(ServeTest, ADeadlockIsNamedUntilItEnds) {
  const auto start_one = [&](const std::string& held, const std::string& wanted) {
    auto one = start({"run", held, "--", "sh", "-c",
                      "echo ready; read line; \"$0\" run -q " + wanted + " -- true; true",
                      HOLDFAST_BINARY});
    EXPECT_EQ(one->read_line(), "ready");
    return one;
  };
  const auto a = start_one("a", "b");
  const auto b = start_one("b", "a");
  a->write("go\n");
  b->write("go\n");
  ASSERT_TRUE(eventually([&] { return !api("waiters")["deadlocks"].empty(); }));
  const auto deadlocks = api("waiters")["deadlocks"];
  ASSERT_EQ(deadlocks.size(), 1U);
  ASSERT_EQ(deadlocks[0].size(), 2U);
  EXPECT_EQ(deadlocks[0][0]["name"], deadlocks[0][1]["holds"]);
  EXPECT_EQ(api("why?name=a")["deadlock"].size(), 2U);
  a->signal(SIGTERM);
  EXPECT_EQ(b->wait(), 0);
  EXPECT_TRUE(eventually([&] { return api("waiters")["deadlocks"].empty(); }));
}

TEST_F(ServeTest, EventsAreStreamedWhenSomethingChanges) {
  HttpClient client(port());
  client.send("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto holder = start_holder({"job"});
  EXPECT_TRUE(eventually([&] {
    const auto event = nlohmann::json::parse(client.read_event(), nullptr, false);
    return event["held"] == 1 && event["state"] == "up";
  }));
}

TEST_F(ServeTest, TheHeaderOfTheStreamIsAnswered) {
  HttpClient client(port());
  client.send("HEAD /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const HttpReply reply = client.read();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("content-type"), "text/event-stream");
  EXPECT_EQ(get(port(), "/api/v1/names").status, 200);
}

TEST_F(ServeTest, TheDescriptionOfTheApiNamesWhatIsAnswered) {
  const auto holder = start_holder({"job"});
  ASSERT_TRUE(sees("job"));
  const auto description = api("openapi.json");
  ASSERT_GE(description["paths"].size(), 11U);
  for (const auto& [path, methods] : description["paths"].items()) {
    if (!methods.contains("get") || path == "/api/v1/stream") {
      continue;
    }
    const bool is_named = path == "/api/v1/name" || path == "/api/v1/why";
    const HttpReply reply = get(port(), path + (is_named ? "?name=job" : ""));
    EXPECT_EQ(reply.status, 200) << path << " " << reply.body;
    const nlohmann::json::json_pointer schema(
        "/get/responses/200/content/application~1json/schema/$ref");
    if (!methods.contains(schema)) {
      continue;
    }
    const std::string reference = methods[schema];
    const auto& described =
        description["components"]["schemas"][reference.substr(reference.rfind('/') + 1)];
    for (const auto& key : described.value("required", nlohmann::json::array())) {
      EXPECT_TRUE(reply.json().contains(key.get<std::string>())) << path << " has no " << key;
    }
  }
}

TEST_F(ServeTest, TheOverviewCountsKindsAndGroups) {
  const auto holder = start_holder({"deploy/web"});
  EXPECT_EQ(holdfast({"mark", "cache", "--ttl", "1h"}).status, 0);
  ASSERT_TRUE(eventually([&] { return api("overview")["names"] == 2; }));
  const auto overview = api("overview");
  EXPECT_EQ(overview["kinds"]["lock"], 1);
  EXPECT_EQ(overview["kinds"]["mark"], 1);
  EXPECT_EQ(overview["groups"][0]["group"], "deploy");
  EXPECT_EQ(overview["state"], "up");
  EXPECT_EQ(api("health")["ok"], true);
}

TEST_F(ServeTest, NamesAreFoundSortedAndPaged) {
  for (const char* const name : {"a/1", "a/2", "b/1"}) {
    EXPECT_EQ(holdfast({"acquire", "--ttl", "1h", "--owner", "Somebody", name}).status, 0);
  }
  ASSERT_TRUE(eventually([&] { return api("names")["total"] == 3; }));
  EXPECT_EQ(api("names?prefix=a%2F")["total"], 2);
  EXPECT_EQ(api("names?search=someBODY")["total"], 3);
  EXPECT_EQ(api("names?search=2")["names"][0]["name"], "a/2");
  const auto page = api("names?offset=1&limit=1");
  EXPECT_EQ(page["total"], 3);
  ASSERT_EQ(page["names"].size(), 1U);
  EXPECT_EQ(page["names"][0]["name"], "a/2");
  EXPECT_EQ(api("names?order=held")["names"][0]["name"], "a/1");
  EXPECT_EQ(api("names?kind=mark")["total"], 0);
  EXPECT_EQ(get(port(), "/api/v1/names?limit=501").status, 400);
  EXPECT_EQ(get(port(), "/api/v1/names?order=random").status, 400);
  EXPECT_EQ(get(port(), "/api/v1/names?lmit=1").status, 400);
}

TEST_F(ServeTest, MetricsHaveNoNames) {
  const auto holder = start_holder({"secret-job"});
  ASSERT_TRUE(sees("secret-job"));
  const std::string text = get(port(), "/metrics").body;
  EXPECT_NE(text.find("\nholdfast_store_up 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nholdfast_store_names_held 1\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
}

TEST_F(ServeTest, ASignalEndsItCleanly) {
  server().signal(SIGTERM);
  EXPECT_EQ(server().wait(), 0);
}

TEST_F(ServeTest, AnAddressThatIsTakenIsNamed) {
  const Outcome outcome = holdfast({"serve", "--listen", "127.0.0.1:" + std::to_string(port())});
  EXPECT_EQ(outcome.status, 69);
  EXPECT_NE(outcome.errors.find("cannot listen on 127.0.0.1:"), std::string::npos)
      << outcome.errors;
}

TEST_F(ServeTest, OtherMachinesAreServedOnRequestOnly) {
  const Outcome outcome = holdfast({"serve", "--listen", "0.0.0.0:0"});
  EXPECT_EQ(outcome.status, 64);
  EXPECT_NE(outcome.errors.find("--insecure"), std::string::npos) << outcome.errors;
  const Outcome in_clear =
      holdfast({"serve", "--listen", "0.0.0.0:0", "--insecure", "--admin-token-file", "/dev/null"});
  EXPECT_EQ(in_clear.status, 64);
  EXPECT_NE(in_clear.errors.find("could read the admin token"), std::string::npos);
  EXPECT_EQ(holdfast({"serve", "--listen", "nowhere"}).status, 64);
  EXPECT_EQ(holdfast({"serve", "--tls-key", "k"}).status, 64);
}

class ServeTlsTest : public Serving {
 protected:
  void SetUp() override {
    tests::make_certificates(folder());
    start_server({"--tls-certificate", (folder() / "server.pem").string(), "--tls-key",
                  (folder() / "server.key").string()});
  }
};

TEST_F(ServeTlsTest, AClientThatTrustsTheAuthorityReadsTheApi) {
  EXPECT_TRUE(url().starts_with("https://127.0.0.1:")) << url();
  const std::string address = "127.0.0.1:" + std::to_string(port());
  const Outcome reply = run_to_end(
      {"openssl", "s_client", "-quiet", "-verify_return_error", "-verify_ip", "127.0.0.1",
       "-CAfile", (folder() / "ca.pem").string(), "-connect", address},
      environment(),
      "GET /api/v1/names HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n");
  EXPECT_NE(reply.output.find("HTTP/1.1 200 OK"), std::string::npos) << reply.errors;
  EXPECT_NE(reply.output.find("\"names\":["), std::string::npos) << reply.output;
  // Without TLS it is no request.
  EXPECT_EQ(get(port(), "/api/v1/names").status, 0);
}

TEST_F(ServeTlsTest, ACertificateThatIsNoneIsNamed) {
  const Outcome outcome = holdfast({"serve", "--listen", "127.0.0.1:0", "--tls-certificate",
                                    "/dev/null", "--tls-key", "/dev/null"});
  EXPECT_EQ(outcome.status, 64);
  EXPECT_NE(outcome.errors.find("cannot use the certificate /dev/null"), std::string::npos)
      << outcome.errors;
}

class ServeRedisTest : public Serving {
 protected:
  void SetUp() override { start_server({"--store", redis_.url()}); }
  tests::RedisServer redis_;
};

TEST_F(ServeRedisTest, AStoreThatEndsAndReturnsIsShownSo) {
  EXPECT_TRUE(eventually([&] { return get(port(), "/healthz").status == 200; }));
  EXPECT_EQ(holdfast({"--store", redis_.url(), "acquire", "--ttl", "1h", "job"}).status, 0);
  EXPECT_TRUE(eventually([&] { return api("names")["total"] == 1; }));
  redis_.kill();
  EXPECT_TRUE(eventually([&] { return get(port(), "/healthz").status == 503; }));
  const auto overview = api("overview");
  EXPECT_EQ(overview["state"], "down");
  EXPECT_FALSE(overview["error"]["message"].get<std::string>().empty());
  // The last listing is still shown.
  EXPECT_EQ(overview["names"], 1);
  redis_.restart();
  EXPECT_TRUE(eventually([&] { return api("overview")["state"] == "up"; }));
  EXPECT_EQ(api("names")["total"], 0);
}

}  // namespace

}  // namespace holdfast::cli::testing
