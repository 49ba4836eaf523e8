#include <holdfast/engines/mongodb/mongo_url.h>

#include <gtest/gtest.h>

#include <holdfast/engines/mongodb/mongo_store.h>

namespace holdfast::engines::mongodb {
namespace {

using namespace std::chrono_literals;

std::string error_of(std::string_view url) {
  const auto options = parse_mongo_url(url);
  return options ? "" : options.error().message;
}

TEST(MongoUrl, HasDefaults) {
  const auto options = parse_mongo_url("mongodb://db.example");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->uri, "mongodb://db.example/");
  EXPECT_EQ(options->database, "holdfast");
  EXPECT_EQ(options->collection, "distributed.locks");
  EXPECT_EQ(options->write_concern, "majority");
  EXPECT_EQ(options->expiry, 30s);
  EXPECT_EQ(options->busy_wait_least, 10ms);
  EXPECT_EQ(options->busy_wait_most, 800ms);
}

TEST(MongoUrl, KeepsItsOwnOptionsAndPassesOnTheDrivers) {
  const auto options = parse_mongo_url(
      "mongodb://me:p%40s@a.example:1,b.example/app?replicaSet=rs0&collection=my%20locks&prefix=a:"
      "&w=2&retention=2h&expiry=10s&extension_cadence=2s&busy_wait_least=1ms&busy_wait_most=5ms"
      "&connect_timeout=50ms&reply_timeout=9s&max_connections=5&authSource=admin");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->uri,
            "mongodb://me:p%40s@a.example:1,b.example/app?replicaSet=rs0&authSource=admin");
  EXPECT_EQ(options->database, "app");
  EXPECT_EQ(options->collection, "my locks");
  EXPECT_EQ(options->prefix, "a:");
  EXPECT_EQ(options->write_concern, "2");
  EXPECT_EQ(options->retention, 2h);
  EXPECT_EQ(options->expiry, 10s);
  EXPECT_EQ(options->extension_cadence, 2s);
  EXPECT_EQ(options->busy_wait_least, 1ms);
  EXPECT_EQ(options->busy_wait_most, 5ms);
  EXPECT_EQ(options->connect_timeout, 50ms);
  EXPECT_EQ(options->reply_timeout, 9s);
  EXPECT_EQ(options->max_connections, 5U);
}

TEST(MongoUrl, KnowsServiceNames) {
  const auto options = parse_mongo_url("mongodb+srv://cluster.example/app?tls=true");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->uri, "mongodb+srv://cluster.example/app?tls=true");
}

TEST(MongoUrl, NamesWhatIsWrong) {
  const auto names = [](std::string_view url, std::string_view what) {
    const std::string error = error_of(url);
    EXPECT_NE(error.find(what), std::string::npos) << url << ": " << error;
  };
  names("redis://h", "mongodb://");
  names("mongodb:h", "mongodb://");
  names("mongodb://h/a.b", "database");
  names("mongodb://h/%zz", "database");
  names("mongodb://h/?collection=system.x", "collection");
  names("mongodb://h/?collection=", "collection");
  names("mongodb://h/?prefix=%ff", "UTF-8");
  names("mongodb://h/?w=0", "write concern");
  names("mongodb://h/?w=", "write concern");
  names("mongodb://h/?retention=10ms", "retention");
  names("mongodb://h/?expiry=1ms", "expiry");
  names("mongodb://h/?expiry=1s&extension_cadence=1s", "cadence");
  names("mongodb://h/?busy_wait_least=2s", "busy-wait");
  names("mongodb://h/?busy_wait_least=0s", "busy-wait");
  names("mongodb://h/?connect_timeout=0s", "time-out");
  names("mongodb://h/?max_connections=0", "connection");
  names("mongodb://h/?max_connections=many", "number");
  names("mongodb://h/?expiry=soon", "expiry");
  names("mongodb://h/?readPreference=secondary", "no option 'readPreference'");
  names("mongodb://h/?retryWrites=false", "no option 'retryWrites'");
  names("mongodb://h/?colection=x", "no option 'colection'");
  names("mongodb://h/?w=1&w=2", "w is there twice");
  names("mongodb://h/?collection", "name=value");
}

TEST(MongoUrl, KeepsThePasswordToItself) {
  for (const std::string_view url :
       {"mongodb://me:secret@h/a.b", "mongodb://me:secret@h/?nothing=1", "mongo://me:secret@h"}) {
    const std::string error = error_of(url);
    EXPECT_NE(error, "") << url;
    EXPECT_EQ(error.find("secret"), std::string::npos) << error;
  }
}

TEST(MongoUrl, QuotesNoOptionThatMayBeTheRestOfAPassword) {
  for (const char* const text :
       {"mongodb://me:a?se=cret@host", "mongodb://me:a?expiry=cret@host/locks"}) {
    const auto options = parse_mongo_url(text);
    ASSERT_FALSE(options) << text;
    EXPECT_EQ(options.error().message.find("cret"), std::string::npos) << options.error().message;
    EXPECT_NE(options.error().message.find("%3F"), std::string::npos) << options.error().message;
  }
}

TEST(MongoUrl, ListsItsOptions) {
  for (const std::string& option : mongo_url_options()) {
    EXPECT_TRUE(parse_mongo_url("mongodb://h/?" + option)) << option;
  }
}

TEST(MongoUrl, ExpiryAndCadenceAreTheDefaultsOfLocksOnTheStore) {
  const auto defaults_of = [](std::string_view url) {
    return base::value_or_throw(open_store(base::value_or_throw(parse_mongo_url(url))))
        ->lease_defaults();
  };

  EXPECT_EQ(defaults_of("mongodb://h/?expiry=10s&extension_cadence=2s").ttl, base::Ttl(10s));
  EXPECT_EQ(defaults_of("mongodb://h/?expiry=10s&extension_cadence=2s").renew_every, 2s);
  EXPECT_EQ(defaults_of("mongodb://h/").ttl, base::Ttl(30s));
  EXPECT_EQ(defaults_of("mongodb://h/").renew_every, std::nullopt);
}

}  // namespace
}  // namespace holdfast::engines::mongodb
