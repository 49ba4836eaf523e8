#include <holdfast/engines/redis/internal/judgement.h>

#include <algorithm>
#include <charconv>

#include <holdfast/base/printable.h>
#include <holdfast/engines/redis/internal/connection/wire.h>
#include <holdfast/engines/redis/internal/topology.h>

namespace holdfast::engines::redis::internal {

namespace {

using Level = Finding::Level;

std::string_view value(const Info& info, std::string_view key) {
  const auto found = info.find(key);
  return found == info.end() ? std::string_view() : std::string_view(found->second);
}

long number(std::string_view text) {
  long result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

Finding judge_version(const Info& info) {
  const std::string_view valkey = value(info, "valkey_version");
  const std::string_view version = valkey.empty() ? value(info, "redis_version") : valkey;
  const std::string text = (valkey.empty() ? "Redis " : "Valkey ") + base::printable(version);
  if (number(version) < 7) {
    return {"version", Level::bad, text + ": the scripts need 7 or later"};
  }
  return {"version", Level::good, text};
}

// All our keys have an expiry, so every policy but one may evict them.
Finding judge_eviction(const Info& info) {
  const std::string policy(value(info, "maxmemory_policy"));
  if (policy == "noeviction") {
    return {"eviction", Level::good,
            "when its memory is full it refuses new locks and keeps the old"};
  }
  if (number(value(info, "maxmemory")) == 0) {
    return {"eviction", Level::warning,
            "maxmemory-policy is " + policy +
                ": as soon as maxmemory is set, held locks may vanish; set it to noeviction"};
  }
  return {"eviction", Level::bad,
          "maxmemory-policy is " + policy +
              ": when its memory is full, held locks vanish and others get them; set it to "
              "noeviction"};
}

Finding judge_persistence(const Info& info) {
  if (value(info, "aof_enabled") != "1") {
    return {"persistence", Level::warning,
            "no append-only file: a restart frees names whose holders live on; they see `lost` at "
            "their next renewal, and tokens still grow; set appendonly to yes"};
  }
  if (value(info, "aof_last_write_status") == "err") {
    return {"persistence", Level::bad,
            "the append-only file cannot be written: check the server's disk"};
  }
  return {"persistence", Level::good,
          "an append-only file: a restart keeps locks, but for the last moment unless appendfsync "
          "is always"};
}

// Returns such as "10.0.0.2:6379 (1 s behind), 10.0.0.3:6379 (wait_bgsave)".
std::string list_of(const std::vector<Replica>& replicas) {
  std::string all;
  for (const Replica& replica : replicas) {
    all.append(all.empty() ? "" : ", ").append(server_address(replica.host, replica.port));
    all.append(replica.state == "online" ? " (" + std::to_string(replica.lag) + " s behind)"
                                         : " (" + base::printable(replica.state) + ")");
  }
  return all;
}

Finding judge_replication(const Info& info) {
  if (value(info, "role") != "master") {
    return {"replication", Level::bad, "this is a replica, which takes no locks: name its master"};
  }
  const std::vector<Replica> replicas = replicas_of(info);
  if (replicas.empty()) {
    return {"replication", Level::good, "no replicas: nothing can be promoted behind our back"};
  }
  return {"replication", Level::warning,
          std::to_string(replicas.size()) + (replicas.size() == 1 ? " replica, " : " replicas, ") +
              list_of(replicas) +
              ": a lock of the last moment is missing where one is promoted, and two may hold it; "
              "let the resource check tokens"};
}

Finding judge_cluster(const Info& info) {
  if (value(info, "cluster_enabled") != "1") {
    return {"cluster_mode", Level::good, "off"};
  }
  return {"cluster_mode", Level::bad,
          "on: names in the slots of other nodes cannot be locked through this one"};
}

}  // namespace

Info parse_info(std::string_view text) {
  Info info;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (const std::size_t colon = line.find(':'); colon != line.npos) {
      std::string_view rest = line.substr(colon + 1);
      info.emplace(line.substr(0, colon), rest.substr(0, rest.find('\r')));
    }
  }
  return info;
}

std::vector<Finding> judge(const Info& info) {
  return {judge_version(info), judge_eviction(info), judge_persistence(info),
          judge_replication(info), judge_cluster(info)};
}

}  // namespace holdfast::engines::redis::internal
