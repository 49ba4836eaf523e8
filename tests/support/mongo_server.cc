#include <tests/support/mongo_server.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include <tests/support/mongo_client.h>

#include <holdfast/base/ids.h>

namespace holdfast::tests {

namespace {

bool is_on_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::path(folder) / program, ignored)) {
      return true;
    }
  }
  return false;
}

const char* given_url() {
  const char* const url = std::getenv("HOLDFAST_TEST_MONGODB");
  return url == nullptr || *url == '\0' ? nullptr : url;
}

// The URL with this database, whatever it names itself.
std::string with_database(std::string_view url, const std::string& database) {
  const std::string_view options = url.substr(std::min(url.find('?'), url.size()));
  const std::string_view place = url.substr(0, url.size() - options.size());
  const std::string_view servers = place.substr(0, place.find('/', place.find("://") + 3));
  return std::string(servers) + "/" + database + std::string(options);
}

// Once in a process is enough.
void say(const std::string& what) {
  static const bool kSaid = [&] {
    std::fprintf(stderr, "holdfast: MongoDB tests run against %s\n", what.c_str());
    return true;
  }();
  static_cast<void>(kSaid);
}

std::shared_ptr<MongoProcess> start(const MongoWishes& wishes) {
  const bool is_there = is_on_path("mongod");
  const auto kind = is_there && !wishes.needs_stand_in() ? MongoProcess::Kind::mongod
                                                         : MongoProcess::Kind::stand_in;
  if (kind == MongoProcess::Kind::mongod || !is_there) {
    say(is_there ? "a mongod from the PATH" : "the stand-in of tests/support/mongodb");
  }
  return std::make_shared<MongoProcess>(kind, wishes);
}

// The server of this process for these wishes.
std::shared_ptr<MongoProcess> shared(const MongoWishes& wishes) {
  using Key = std::tuple<bool, int, bool, bool>;
  static std::map<Key, std::shared_ptr<MongoProcess>> processes;
  const bool is_stand_in = wishes.needs_stand_in() || !is_on_path("mongod");
  auto& process = processes[{wishes.standalone, wishes.wire_version, wishes.tls, is_stand_in}];
  if (process == nullptr) {
    process = start(wishes);
  }
  return process;
}

}  // namespace

bool mongo_server_is_given() { return given_url() != nullptr; }

MongoServer::MongoServer(const Options& options)
    : options_(options),
      database_("holdfast_" + to_string(base::LeaseId::generate()).substr(0, 12)) {
  if (const char* const url = given_url(); url != nullptr && !options.needs_stand_in()) {
    url_ = with_database(url, database_);
    say("the server of HOLDFAST_TEST_MONGODB");
    return;
  }
  process_ = options.own ? start(options) : shared(options);
  url_ = process_->url(process_->port(), database_);
}

MongoServer::~MongoServer() {
  const bool ends_with_us = process_ != nullptr && options_.own;
  if (kind() == Kind::stand_in || ends_with_us) {
    return;
  }
  try {
    MongoClient(url_).run(database_, R"({"dropDatabase": 1})");
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "holdfast: a test database is left behind: %s\n", error.what());
  }
}

MongoServer::Kind MongoServer::kind() const noexcept {
  if (process_ == nullptr) {
    return Kind::given;
  }
  return process_->kind() == MongoProcess::Kind::mongod ? Kind::mongod : Kind::stand_in;
}

MongoProcess& MongoServer::own_process() {
  if (process_ == nullptr || !options_.own) {
    throw std::logic_error(
        "other tests use this server, too: a test that breaks it wishes for its own");
  }
  return *process_;
}

}  // namespace holdfast::tests
