#include <holdfast/engines/redis/redis_diagnosis.h>

#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/check_options.h>
#include <holdfast/engines/redis/internal/connection/exchange.h>
#include <holdfast/engines/redis/internal/connection/greeting.h>
#include <holdfast/engines/redis/internal/connection/route.h>
#include <holdfast/engines/redis/internal/connection/sentinels.h>
#include <holdfast/engines/redis/internal/connection/server_errors.h>
#include <holdfast/engines/redis/internal/judgement.h>
#include <holdfast/engines/redis/internal/topology.h>

namespace holdfast::engines::redis {

namespace {

using base::Deadline;
using base::Result;
using internal::Command;
using internal::Reply;
using internal::Wire;
using std::chrono::microseconds;

Deadline soon(const RedisOptions& options) {
  return Deadline::after(base::steady_clock(), options.reply_timeout);
}

// Returns the answer, an error of the server included.
Result<Reply> ask(Wire& wire, const RedisOptions& options, const Command& command) {
  HOLDFAST_TRY_LET(auto replies, internal::exchange(wire, {command}, soon(options)));
  return std::move(replies.front());
}

microseconds wall_clock() {
  return std::chrono::duration_cast<microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

std::int64_t number(std::string_view text) {
  std::int64_t result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

// Returns by how much the server's clock is ahead of ours.
Result<base::Duration> ask_clock(Wire& wire, const RedisOptions& options) {
  const microseconds before = wall_clock();
  HOLDFAST_TRY_LET(const auto time, ask(wire, options, Command("TIME")));
  const microseconds after = wall_clock();
  if (time.is_error()) {
    return std::unexpected(internal::failure_of(time));
  }
  if (time.elements().size() != 2) {
    return base::fail(base::ErrorCode::internal, "TIME gave an unexpected answer");
  }
  const microseconds theirs = std::chrono::seconds(number(time.elements()[0].text())) +
                              microseconds(number(time.elements()[1].text()));
  return theirs - (before + after) / 2;
}

// Returns nullopt if the server does not show them to this user.
Result<std::optional<internal::ReplicaSettings>> ask_settings(Wire& wire,
                                                              const RedisOptions& options) {
  internal::ReplicaSettings settings;
  for (const auto& [name, into] : {std::pair{"min-replicas-to-write", &settings.to_write},
                                   std::pair{"min-replicas-max-lag", &settings.max_lag_seconds}}) {
    HOLDFAST_TRY_LET(const auto answer, ask(wire, options, Command("CONFIG", "GET", name)));
    if (answer.elements().size() != 2) {
      return std::nullopt;
    }
    *into = static_cast<long>(number(answer.elements()[1].text()));
  }
  return settings;
}

// Returns by how much the clock of the replica is ahead of the master's, which is ahead of ours.
Result<base::Duration> ask_replica(RedisOptions options, const internal::Replica& replica,
                                   base::Duration masters) {
  options.sentinel.reset();
  options.unix_socket.clear();
  options.host = replica.host;
  options.port = replica.port;
  HOLDFAST_TRY_LET(const auto wire, internal::connect_and_greet(options, soon(options)));
  HOLDFAST_TRY_LET(const auto ahead, ask_clock(*wire, options));
  return ahead - masters;
}

internal::SentinelView ask_sentinel(const internal::Sentinels& sentinels, std::size_t place) {
  const RedisOptions options = sentinels.options_of(place);
  internal::SentinelView view{.address = internal::server_address(options)};
  const std::string& name = sentinels.master_name();
  const auto replies = sentinels.ask(
      place,
      {Command("SENTINEL", "MASTER", name), Command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name),
       Command("SENTINEL", "CKQUORUM", name)},
      soon(options));
  if (!replies) {
    view.answers = std::unexpected(replies.error());
    return view;
  }
  const Reply& master = replies->at(0);
  if (const auto found = internal::read_master(replies->at(1), master); found && *found) {
    view.master = internal::server_address((*found)->host, (*found)->port);
  }
  view.quorum = static_cast<long>(number(internal::field_of(master, "quorum")));
  view.others = static_cast<long>(number(internal::field_of(master, "num-other-sentinels")));
  view.down_after =
      static_cast<long>(number(internal::field_of(master, "down-after-milliseconds")));
  view.check = replies->at(2).text();
  return view;
}

Finding ask_sentinels(const RedisOptions& options) {
  const internal::Sentinels sentinels(options);
  std::vector<internal::SentinelView> views;
  for (std::size_t place = 0; place < sentinels.count(); ++place) {
    views.push_back(ask_sentinel(sentinels, place));
  }
  return internal::judge_sentinels(views);
}

}  // namespace

Result<std::vector<Finding>> diagnose(const RedisOptions& options) {
  HOLDFAST_TRY(internal::check_options(options));
  HOLDFAST_TRY_LET(const auto opened, internal::route_to(options)->open(Deadline::never()));
  HOLDFAST_TRY_LET(const Reply answer, ask(*opened.wire, options, Command("INFO")));
  if (answer.is_error()) {
    return std::unexpected(internal::failure_of(answer));
  }
  const internal::Info info = internal::parse_info(answer.text());
  std::vector<Finding> findings = internal::judge(info);
  HOLDFAST_TRY_LET(const auto settings, ask_settings(*opened.wire, options));
  if (auto finding = internal::judge_min_replicas(info, settings)) {
    findings.push_back(*std::move(finding));
  }
  if (options.sentinel) {
    findings.push_back(ask_sentinels(options));
  }
  HOLDFAST_TRY_LET(const base::Duration ahead, ask_clock(*opened.wire, options));
  std::vector<internal::ReplicaClock> clocks;
  for (const internal::Replica& replica : internal::replicas_of(info)) {
    clocks.push_back({.address = internal::server_address(replica.host, replica.port),
                      .ahead = ask_replica(options, replica, ahead)});
  }
  if (!clocks.empty()) {
    findings.push_back(internal::judge_replica_clocks(clocks));
  }
  findings.push_back(store::judge_clock(ahead));
  return findings;
}

}  // namespace holdfast::engines::redis
