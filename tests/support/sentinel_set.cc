#include <tests/support/sentinel_set.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include <tests/support/patience.h>
#include <tests/support/redis_client.h>

namespace holdfast::tests {

namespace {

constexpr int kQuorum = 2;

std::vector<std::string> server_arguments(const SentinelSet::Options& options) {
  std::vector<std::string> arguments = options.arguments;
  if (!options.password.empty()) {
    arguments.insert(arguments.end(),
                     {"--requirepass", options.password, "--masterauth", options.password});
  }
  // A replica that has lost its master for a moment goes on where it was.
  arguments.insert(arguments.end(), {"--repl-backlog-size", "16mb", "--repl-diskless-sync-delay",
                                     "0", "--repl-ping-replica-period", "1"});
  return arguments;
}

std::vector<std::string> sentinel_lines(const SentinelSet::Options& options,
                                        std::uint16_t master_port) {
  const std::string name = SentinelSet::kMasterName;
  std::vector<std::string> lines = {
      "sentinel monitor " + name + " 127.0.0.1 " + std::to_string(master_port) + " " +
          std::to_string(kQuorum),
      "sentinel down-after-milliseconds " + name + " " + std::to_string(options.down_after.count()),
      "sentinel failover-timeout " + name + " 5000",
      "sentinel parallel-syncs " + name + " 2",
  };
  if (!options.password.empty()) {
    lines.push_back("sentinel auth-pass " + name + " " + options.password);
  }
  if (!options.sentinel_password.empty()) {
    lines.push_back("requirepass " + options.sentinel_password);
    lines.push_back("sentinel sentinel-pass " + options.sentinel_password);
  }
  return lines;
}

}  // namespace

SentinelSet::SentinelSet(Options options) : options_(std::move(options)) {
  RedisServer::Options server{.arguments = server_arguments(options_)};
  servers_.push_back(std::make_unique<RedisServer>(server));
  const std::uint16_t master = servers_.front()->port();
  server.arguments.insert(server.arguments.end(),
                          {"--replicaof", "127.0.0.1", std::to_string(master)});
  for (std::size_t i = 0; i < options_.replicas; ++i) {
    servers_.push_back(std::make_unique<RedisServer>(server));
  }
  for (std::size_t i = 0; i < kSentinels; ++i) {
    sentinels_.push_back(std::make_unique<RedisServer>(
        RedisServer::Options{.sentinel = sentinel_lines(options_, master)}));
  }
  wait_until_whole();
}

std::string SentinelSet::url() const {
  std::string url = "redis+sentinel://";
  url += options_.password.empty() ? "" : ":" + options_.password + "@";
  std::string separator;
  for (const auto& sentinel : sentinels_) {
    url += separator + "127.0.0.1:" + std::to_string(sentinel->port());
    separator = ",";
  }
  url += std::string("/") + kMasterName;
  return options_.sentinel_password.empty()
             ? url
             : url + "?sentinel_password=" + options_.sentinel_password;
}

bool SentinelSet::is_sentinel(std::uint16_t port) const {
  return std::ranges::any_of(sentinels_, [&](const auto& each) { return each->port() == port; });
}

std::string SentinelSet::ask(std::uint16_t port, const std::vector<std::string>& words) const {
  const std::string& password = is_sentinel(port) ? options_.sentinel_password : options_.password;
  try {
    RedisClient client(port);
    if (!password.empty()) {
      client.run({"AUTH", password});
    }
    return client.run(words);
  } catch (const std::runtime_error&) {
    return {};
  }
}

std::uint16_t SentinelSet::master_port() const {
  for (const auto& sentinel : sentinels_) {
    // [127.0.0.1 6379]
    const std::string said =
        ask(sentinel->port(), {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", kMasterName});
    if (const std::size_t blank = said.rfind(' '); blank != std::string::npos) {
      return static_cast<std::uint16_t>(std::stoi(said.substr(blank + 1)));
    }
  }
  throw std::runtime_error("no Sentinel says where the master is");
}

RedisServer& SentinelSet::server_at(std::uint16_t port) const {
  const auto found =
      std::ranges::find_if(servers_, [&](const auto& server) { return server->port() == port; });
  if (found == servers_.end()) {
    throw std::runtime_error("none of the servers has the port " + std::to_string(port));
  }
  return **found;
}

bool SentinelSet::is_whole() const {
  std::optional<std::string> agreed;
  for (const auto& sentinel : sentinels_) {
    const std::string master =
        ask(sentinel->port(), {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", kMasterName});
    const std::string details = ask(sentinel->port(), {"SENTINEL", "MASTER", kMasterName});
    if (agreed.value_or(master) != master || !details.contains(" flags master ") ||
        !details.contains("num-other-sentinels " + std::to_string(kSentinels - 1)) ||
        !details.contains("num-slaves " + std::to_string(options_.replicas))) {
      return false;
    }
    agreed = master;
  }
  const std::string info = ask(master_port(), {"INFO", "replication"});
  std::size_t online = 0;
  for (std::size_t at = 0; (at = info.find("state=online", at)) != std::string::npos; ++at) {
    ++online;
  }
  return info.contains("role:master") && online == options_.replicas;
}

void SentinelSet::wait_until_whole() const {
  if (!eventually([&] { return is_whole(); })) {
    throw std::runtime_error("the Sentinels and the servers do not find each other");
  }
}

void SentinelSet::fail_over() const {
  const std::uint16_t before = master_port();
  const auto asked = [&] {
    return ask(sentinels_.front()->port(), {"SENTINEL", "FAILOVER", kMasterName}) == "OK";
  };
  const auto is_over = [&] {
    return std::ranges::all_of(sentinels_, [&](const auto& sentinel) {
      const std::string said =
          ask(sentinel->port(), {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", kMasterName});
      return !said.empty() && !said.ends_with(" " + std::to_string(before) + "]");
    });
  };
  if (!eventually(asked) || !eventually(is_over)) {
    throw std::runtime_error("the Sentinels do not make another server the master");
  }
}

}  // namespace holdfast::tests
