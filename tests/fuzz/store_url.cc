// The URL of a store: what is read prints back and is read equal, and no password is ever shown.
#include <holdfast/engines/store_url.h>

#include <string>

#include <tests/fuzz/fuzz.h>

#include <holdfast/base/percent.h>
#include <holdfast/engines/mongodb/mongo_url.h>
#include <holdfast/engines/redis/redis_url.h>

namespace {

using namespace holdfast;
using engines::StoreUrl;
using engines::without_password;
using fuzz::require;

void check_round_trip(const StoreUrl& url) {
  std::string text = url.scheme + ":" + base::percent_encode(url.rest);
  char before = '?';
  for (const auto& [name, value] : url.options) {
    text += before + name + "=" + base::percent_encode(value);
    before = '&';
  }
  const auto again = StoreUrl::parse(text);
  require(again.has_value(), "a URL that is printed back is one");
  require(again->scheme == url.scheme && again->rest == url.rest && again->options == url.options,
          "a URL that is printed back is equal");
}

// Calls `check` with all that any of the parsers says about the text.
template <class Check>
void for_each_text(const std::string& url, const Check& check) {
  check(without_password(url));
  if (const auto parsed = StoreUrl::parse(url); !parsed) {
    check(parsed.error().message);
  }
  if (const auto parsed = engines::redis::parse_redis_url(url); !parsed) {
    check(parsed.error().message);
  }
  if (const auto parsed = engines::mongodb::parse_mongo_url(url); !parsed) {
    check(parsed.error().message);
  }
}

void check_hides(const std::string& url) {
  for_each_text(url, [](const std::string& text) {
    require(text.find("hunter2") == text.npos, "no message has the password");
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::as_text(data, size));
  if (const auto url = StoreUrl::parse(text)) {
    check_round_trip(*url);
  } else {
    fuzz::require_printable(url.error());
  }
  if (const auto redis = engines::redis::parse_redis_url(text); !redis) {
    fuzz::require_printable(redis.error());
  }
  if (const auto mongodb = engines::mongodb::parse_mongo_url(text); !mongodb) {
    fuzz::require_printable(mongodb.error());
  }
  const std::string shown = without_password(text);
  require(without_password(shown) == shown, "what is shown has nothing more to hide");
  if (text.find("hunter2") == text.npos) {
    for (const char* const scheme :
         {"redis", "rediss", "redis+unix", "redis+sentinel", "mongodb", "mongodb+srv"}) {
      check_hides(std::string(scheme) + "://user:hunter2" + text + "@host");
      check_hides(std::string(scheme) + "://user:" + text + "hunter2@host/1");
      check_hides(std::string(scheme) + "://host?password=hunter2&" + text);
    }
  }
  return 0;
}
