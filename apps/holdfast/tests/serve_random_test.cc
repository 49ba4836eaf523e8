#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "apps/holdfast/tests/serving.h"

namespace holdfast::cli::testing {

namespace {

using Random = std::mt19937_64;

// Requests that are nearly right: parts of good ones, with bytes changed, removed and repeated.
class RandomRequests {
 public:
  explicit RandomRequests(std::uint64_t seed) : random_(seed) {}

  std::string next() {
    std::string text = pick(kMethods) + " " + target() + " " + pick(kVersions) + "\r\n";
    for (std::size_t i = below(5); i > 0; --i) {
      text += pick(kHeaders) + (below(8) == 0 ? bytes(below(20'000)) : "") + "\r\n";
    }
    text += "\r\n" + (below(3) == 0 ? pick(kBodies) : "");
    for (std::size_t i = below(4) == 0 ? below(6) : 0; i > 0; --i) {
      mutate(text);
    }
    return text;
  }
  std::size_t below(std::size_t most) { return random_() % most; }

 private:
  static constexpr std::array<std::string_view, 7> kMethods{"GET",  "HEAD",   "POST", "PUT",
                                                            "GETT", "DELETE", ""};
  static constexpr std::array<std::string_view, 4> kVersions{"HTTP/1.1", "HTTP/1.0", "HTTP/2.0",
                                                             ""};
  static constexpr std::array<std::string_view, 12> kPaths{"/",
                                                           "/api/v1/names",
                                                           "/api/v1/name",
                                                           "/api/v1/why",
                                                           "/api/v1/waiters",
                                                           "/api/v1/events",
                                                           "/api/v1/overview",
                                                           "/api/v1/stream",
                                                           "/metrics",
                                                           "/app.js",
                                                           "/api/v1/steal",
                                                           "/%00"};
  static constexpr std::array<std::string_view, 10> kQueries{
      "name=job",  "name=%FF%00", "prefix=a",        "search=%3Cscript%3E",
      "limit=500", "limit=-1",    "offset=99999999", "order=held",
      "order=",    "name="};
  static constexpr std::array<std::string_view, 12> kHeaders{"Host: localhost",
                                                             "Host: 127.0.0.1:1",
                                                             "Host: evil",
                                                             "Host:",
                                                             "Connection: close",
                                                             "Connection: keep-alive",
                                                             "Content-Length: 5",
                                                             "Content-Length: 99999999999999999999",
                                                             "Transfer-Encoding: chunked",
                                                             "Origin: null",
                                                             "X: ",
                                                             "Expect: 100-continue"};
  static constexpr std::array<std::string_view, 4> kBodies{
      "hello", "5\r\nhello\r\n0\r\n\r\n", "{\"confirm\": \"job\"}", "fffffffffffffffff\r\n"};

  std::string pick(const auto& choices) { return std::string(choices[below(choices.size())]); }
  std::string bytes(std::size_t size) {
    std::string text(size, '\0');
    std::ranges::generate(text, [this] { return static_cast<char>(random_()); });
    return text;
  }
  std::string target() {
    std::string text = pick(kPaths);
    for (std::size_t i = below(4); i > 0; --i) {
      text += (text.find('?') == std::string::npos ? "?" : "&") + pick(kQueries);
    }
    return text;
  }
  void mutate(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(3)) {
      case 0: text.insert(at, bytes(below(8))); break;
      case 1: text.erase(at, below(8)); break;
      default: text.insert(at, text.substr(at, below(64))); break;
    }
  }

  Random random_;
};

class ServeRandomTest : public Serving {
 protected:
  [[nodiscard]] std::size_t resident_bytes() {
    std::ifstream file("/proc/" + std::to_string(server().id()) + "/statm");
    std::size_t all = 0;
    std::size_t resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  static std::uint64_t chosen_seed() {
    const char* const text = std::getenv("HOLDFAST_SERVE_SEED");
    return text != nullptr ? std::stoull(text) : std::random_device{}();
  }
  static std::chrono::seconds how_long() {
    const char* const text = std::getenv("HOLDFAST_SERVE_SECONDS");
    return std::chrono::seconds(text != nullptr ? std::stoi(text) : 3);
  }
};

// HOLDFAST_SERVE_SECONDS=600 makes it long; a failure names the HOLDFAST_SERVE_SEED to run again.
TEST_F(ServeRandomTest, RandomRequestsNeitherEndNorFillIt) {
  const auto holder = start_holder({"job"});
  const std::uint64_t seed = chosen_seed();
  SCOPED_TRACE("HOLDFAST_SERVE_SEED=" + std::to_string(seed));
  RandomRequests requests(seed);
  std::vector<std::unique_ptr<HttpClient>> open(64);
  const auto send_for = [&](std::chrono::steady_clock::duration time) {
    std::size_t sent = 0;
    for (const auto end = std::chrono::steady_clock::now() + time;
         std::chrono::steady_clock::now() < end; ++sent) {
      auto& client = open[requests.below(open.size())];
      // Some are left open, in the middle of a request or of a response.
      if (!client || requests.below(4) == 0) {
        client = std::make_unique<HttpClient>(port());
      }
      client->send(requests.next());
    }
    return sent;
  };
  // The first part fills what is kept for later use.
  std::size_t sent = send_for(how_long() / 3);
  const std::size_t before = resident_bytes();
  sent += send_for(how_long() * 2 / 3);
  open.clear();
  EXPECT_TRUE(eventually([&] { return get(port(), "/api/v1/name?name=job").status == 200; }));
  EXPECT_EQ(api("name?name=job")["held"], true);
#if defined(__SANITIZE_ADDRESS__)
  constexpr std::size_t kGrowth = std::size_t{512} << 20U;  // what was freed is kept for a while
#else
  constexpr std::size_t kGrowth = std::size_t{24} << 20U;
#endif
  EXPECT_LT(resident_bytes(), before + kGrowth) << "after " << sent << " requests";
  RecordProperty("requests", std::to_string(sent));
  std::printf("%zu requests, %zu KB before, %zu KB after\n", sent, before / 1024,
              resident_bytes() / 1024);
}

}  // namespace

}  // namespace holdfast::cli::testing
