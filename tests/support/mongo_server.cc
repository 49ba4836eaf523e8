#include <tests/support/mongo_server.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <tests/support/certificates.h>
#include <tests/support/free_port.h>
#include <tests/support/mongo_client.h>
#include <tests/support/spawn.h>

#include <holdfast/base/ids.h>

// HOLDFAST_STAND_IN: tests/support/mongodb/server.cjs. HOLDFAST_NODE_MODULES: where its packages
// are.
namespace holdfast::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;
constexpr auto kLook = 5ms;
constexpr int kAttempts = 5;

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

}  // namespace

bool mongo_server_is_given() { return given_url() != nullptr; }

MongoServer::MongoServer(const Options& options)
    : options_(options),
      database_("holdfast_" + to_string(base::LeaseId::generate()).substr(0, 12)) {
  const bool needs_stand_in =
      options.must_be_stand_in || options.standalone || options.wire_version != 0 || options.tls;
  if (const char* const url = given_url(); url != nullptr && !needs_stand_in) {
    kind_ = Kind::given;
    url_ = with_database(url, database_);
    say("the server of HOLDFAST_TEST_MONGODB");
    return;
  }
  kind_ = is_on_path("mongod") && !needs_stand_in ? Kind::mongod : Kind::stand_in;
  if (options_.tls) {
    make_certificates(folder_.path());
  }
  if (kind_ == Kind::mongod || !is_on_path("mongod")) {
    say(kind_ == Kind::mongod ? "a mongod from the PATH" : "the stand-in of tests/support/mongodb");
  }
  start();
}

MongoServer::~MongoServer() {
  if (kind_ == Kind::given) {
    try {
      MongoClient(url_).run(database_, R"({"dropDatabase": 1})");
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "holdfast: a test database is left behind: %s\n", error.what());
    }
  }
  kill();
}

void MongoServer::start() {
  // Another program may take a port between our look and the server's.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    port_ = free_port();
    url_ = url_by(port_);
    if (spawn_and_wait()) {
      return;
    }
  }
  throw std::runtime_error(
      kind_ == Kind::mongod ? "mongod does not start"
                            : "the stand-in for MongoDB does not start; its packages are installed "
                              "by ./test, or with `npm ci` into " HOLDFAST_NODE_MODULES);
}

std::string MongoServer::url_by(std::uint16_t port) const {
  return "mongodb://127.0.0.1:" + std::to_string(port) + "/" + database_ +
         (options_.tls ? "?tls=true&tlsCAFile=" + (folder_ / "ca.pem").string() : "");
}

std::vector<std::string> MongoServer::command_line() const {
  const std::string port = std::to_string(port_);
  if (kind_ == Kind::mongod) {
    return {"mongod",
            "--port",
            port,
            "--bind_ip",
            "127.0.0.1",
            "--dbpath",
            folder_.path().string(),
            "--logpath",
            (folder_ / "mongod.log").string(),
            "--replSet",
            "holdfast",
            "--setParameter",
            "enableTestCommands=1"};
  }
  std::vector<std::string> words = {"node", HOLDFAST_STAND_IN, port};
  if (options_.standalone) {
    words.emplace_back("--standalone");
  }
  if (options_.wire_version != 0) {
    words.insert(words.end(), {"--wire-version", std::to_string(options_.wire_version)});
  }
  if (options_.tls) {
    words.insert(words.end(), {"--tls", folder_.path().string()});
  }
  return words;
}

// Whether it is there, and takes writes. A mongod does once it has made itself a replica set; if it
// is one already, it refuses to be made one, and will take writes soon.
bool MongoServer::answers() const {
  try {
    MongoClient client(url_);
    if (client.run("admin", R"({"isMaster": 1})").contains(R"("ismaster" : true)")) {
      return true;
    }
    if (kind_ == Kind::mongod) {
      client.run("admin",
                 R"({"replSetInitiate": {"_id": "holdfast", "members": [{"_id": 0, "host": ")" +
                     ("127.0.0.1:" + std::to_string(port_)) + R"("}]}})");
    }
    return false;
  } catch (const std::runtime_error&) {
    return false;
  }
}

bool MongoServer::spawn_and_wait() {
  ::setenv("NODE_PATH", HOLDFAST_NODE_MODULES, 1);
  process_ = spawn(command_line());
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < give_up) {
    if (has_ended(process_)) {
      process_ = -1;
      return false;
    }
    if (answers()) {
      return true;
    }
    std::this_thread::sleep_for(kLook);
  }
  kill();
  return false;
}

void MongoServer::kill() {
  if (process_ > 0) {
    kill_and_wait(process_);
    process_ = -1;
  }
}

void MongoServer::restart() {
  kill();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (spawn_and_wait()) {
      return;
    }
  }
  throw std::runtime_error("the server does not start again on its port");
}

void MongoServer::suspend() const { send_signal(process_, SIGSTOP); }

void MongoServer::resume() const { send_signal(process_, SIGCONT); }

}  // namespace holdfast::tests
