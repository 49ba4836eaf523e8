#include <tests/support/redis_server.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include <hiredis/hiredis.h>
#include <tests/support/certificates.h>
#include <tests/support/free_port.h>
#include <tests/support/no_pipe_signal.h>
#include <tests/support/spawn.h>

namespace holdfast::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;
constexpr auto kLook = 2ms;
constexpr int kAttempts = 5;

}  // namespace

RedisServer::RedisServer(Options options) : options_(std::move(options)) {
  if (options_.tls) {
    make_certificates(folder_.path());
  }
  if (!options_.sentinel.empty()) {
    write_sentinel_file();
  }
  start();
}

// A Sentinel keeps there what it learns.
void RedisServer::write_sentinel_file() const {
  std::ofstream file(folder_ / "sentinel.conf");
  for (const std::string& line : options_.sentinel) {
    file << line << '\n';
  }
}

RedisServer::~RedisServer() { kill(); }

std::string RedisServer::url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

std::string RedisServer::unix_url() const { return "redis+unix://" + socket().string(); }

std::string RedisServer::tls_url() const {
  return "rediss://localhost:" + std::to_string(tls_port_) + "?tls_ca=" + authority().string();
}

void RedisServer::start() {
  // Another program may take a port between our look and the server's.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    port_ = free_port();
    tls_port_ = options_.tls ? free_port() : 0;
    bus_port_ = options_.cluster ? free_port() : 0;
    if (spawn_and_wait()) {
      return;
    }
  }
  throw std::runtime_error("redis-server does not start; is it installed? See " +
                           (folder_ / "redis.log").string());
}

std::vector<std::string> RedisServer::command_line() const {
  std::vector<std::string> words = {"redis-server"};
  if (!options_.sentinel.empty()) {
    words.insert(words.end(), {(folder_ / "sentinel.conf").string(), "--sentinel"});
  }
  const std::vector<std::string> usual = {"--port",
                                          std::to_string(port_),
                                          "--bind",
                                          "127.0.0.1",
                                          "127.0.0.2",
                                          "--unixsocket",
                                          socket().string(),
                                          "--dir",
                                          folder_.path().string(),
                                          "--logfile",
                                          (folder_ / "redis.log").string(),
                                          "--save",
                                          "",
                                          "--daemonize",
                                          "no"};
  words.insert(words.end(), usual.begin(), usual.end());
  if (options_.tls) {
    words.insert(words.end(), {"--tls-port", std::to_string(tls_port_), "--tls-cert-file",
                               (folder_ / "server.pem").string(), "--tls-key-file",
                               (folder_ / "server.key").string(), "--tls-ca-cert-file",
                               authority().string(), "--tls-auth-clients", "no"});
  }
  if (options_.cluster) {
    words.insert(words.end(),
                 {"--cluster-enabled", "yes", "--cluster-port", std::to_string(bus_port_)});
  }
  words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
  return words;
}

bool RedisServer::spawn_and_wait() {
  process_ = spawn(command_line());
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < give_up) {
    if (has_ended()) {
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

bool RedisServer::has_ended() {
  if (!tests::has_ended(process_)) {
    return false;
  }
  process_ = -1;
  return true;
}

// An error is an answer too: the server may ask for a password. But it must have read its data. One
// that finds the port of its bus taken ends after it has opened its socket, even between our
// connect and write.
bool RedisServer::answers() const {
  const NoPipeSignal guard;
  const std::unique_ptr<redisContext, decltype(&::redisFree)> context(
      ::redisConnectUnix(socket().c_str()), &::redisFree);
  if (context == nullptr || context->err != 0) {
    return false;
  }
  auto* const reply = static_cast<redisReply*>(::redisCommand(context.get(), "PING"));
  if (reply == nullptr) {
    return false;
  }
  const bool is_loading = std::string_view(reply->str, reply->len).starts_with("LOADING");
  ::freeReplyObject(reply);
  return !is_loading;
}

void RedisServer::kill() {
  if (process_ > 0) {
    kill_and_wait(process_);
    process_ = -1;
  }
}

void RedisServer::restart() {
  kill();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (spawn_and_wait()) {
      return;
    }
  }
  throw std::runtime_error("redis-server does not start again on its port");
}

void RedisServer::suspend() const { send_signal(process_, SIGSTOP); }

void RedisServer::resume() const { send_signal(process_, SIGCONT); }

}  // namespace holdfast::tests
