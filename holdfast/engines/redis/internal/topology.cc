#include <holdfast/engines/redis/internal/topology.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/printable.h>

namespace holdfast::engines::redis::internal {

namespace {

using Level = Finding::Level;

// A fail-over takes longer, so tokens grow in spite of such a difference.
constexpr base::Duration kGoodClock = std::chrono::milliseconds(500);

// Fewer cannot outvote one that is cut off.
constexpr long kFewestSentinels = 3;

template <class Number>
Number number(std::string_view text) {
  Number result{};
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

// Returns the value in a list `key=value,key=value`.
std::string_view value_in(std::string_view list, std::string_view key) {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    if (one.starts_with(key) && one.substr(key.size()).starts_with('=')) {
      return one.substr(key.size() + 1);
    }
  }
  return {};
}

std::string joined(const std::vector<std::string>& texts, std::string_view separator) {
  std::string all;
  for (const std::string& text : texts) {
    all.append(all.empty() ? "" : separator).append(text);
  }
  return all;
}

std::string plural(long count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::vector<Replica> replicas_of(const Info& info) {
  std::vector<Replica> replicas;
  for (const auto& [key, text] : info) {
    if (key.starts_with("slave") && text.starts_with("ip=")) {
      replicas.push_back({.host = std::string(value_in(text, "ip")),
                          .port = number<std::uint16_t>(value_in(text, "port")),
                          .state = std::string(value_in(text, "state")),
                          .lag = number<long>(value_in(text, "lag"))});
    }
  }
  return replicas;
}

std::optional<Finding> judge_min_replicas(const Info& info,
                                          const std::optional<ReplicaSettings>& settings) {
  constexpr const char* kName = "min_replicas";
  const std::vector<Replica> replicas = replicas_of(info);
  if (!settings) {
    return replicas.empty()
               ? std::nullopt
               : std::optional(Finding{
                     kName, Level::warning,
                     "min-replicas-to-write cannot be read: allow the user CONFIG GET, or check it "
                     "yourself"});
  }
  const auto in_step = std::ranges::count_if(replicas, [&](const Replica& replica) {
    return replica.state == "online" && replica.lag <= settings->max_lag_seconds;
  });
  const std::string setting = "min-replicas-to-write is " + std::to_string(settings->to_write);
  if (settings->to_write == 0 || settings->max_lag_seconds == 0) {
    return replicas.empty()
               ? std::nullopt
               : std::optional(
                     Finding{kName, Level::warning,
                             setting + ": a master that is cut off from its replicas goes on "
                                       "granting locks that the next master does not know; set it "
                                       "to 1 or more, and min-replicas-max-lag to some seconds"});
  }
  if (in_step < settings->to_write) {
    return Finding{kName, Level::bad,
                   setting + ", and " + plural(in_step, "replica") +
                       (in_step == 1 ? " is" : " are") +
                       " in step: the server grants no lock and renews none; start replicas"};
  }
  return Finding{kName, Level::good,
                 setting + ": a master that is cut off from its replicas grants nothing after " +
                     std::to_string(settings->max_lag_seconds) +
                     " s; what it granted before that may be missing at the next master"};
}

Finding judge_sentinels(const std::vector<SentinelView>& views) {
  constexpr const char* kName = "sentinels";
  std::vector<std::string> silent;
  std::vector<std::string> masters;
  const SentinelView* first = nullptr;
  const SentinelView* without_quorum = nullptr;
  for (const SentinelView& view : views) {
    if (!view.answers) {
      silent.push_back(view.answers.error().message);
      continue;
    }
    const std::string master = view.master.empty() ? "no such master" : view.master;
    masters.push_back(view.address + ": " + master);
    first = first == nullptr ? &view : first;
    if (!view.check.starts_with("OK") && without_quorum == nullptr) {
      without_quorum = &view;
    }
  }
  const long answering = std::ssize(masters);
  const std::string count =
      std::to_string(answering) + " of " + plural(std::ssize(views), "Sentinel") + " answer";
  if (first == nullptr) {
    return {kName, Level::bad, count + ": " + joined(silent, "; ")};
  }
  if (std::ranges::any_of(views, [&](const SentinelView& view) {
        return view.answers && view.master != first->master;
      })) {
    return {kName, Level::warning,
            count + ", and do not agree: " + joined(masters, ", ") +
                "; a fail-over may be under way, or one of them is cut off"};
  }
  if (without_quorum != nullptr) {
    return {kName, Level::bad,
            "a dead master is not replaced: " + without_quorum->address + " says " +
                base::printable(without_quorum->check)};
  }
  if (!silent.empty()) {
    return {kName, Level::warning, count + ": " + joined(silent, "; ")};
  }
  const long known = first->others + 1;
  const std::string detail =
      count + (known == std::ssize(views) ? "" : ", " + std::to_string(known) + " are known") +
      ", quorum " + std::to_string(first->quorum) + ", master " + first->master +
      ", which is replaced when it is silent for " +
      base::short_duration(std::chrono::milliseconds(first->down_after));
  if (known < kFewestSentinels) {
    return {kName, Level::warning,
            detail + "; fewer than three cannot outvote one that is cut off: start more"};
  }
  return {kName, Level::good, detail};
}

Finding judge_replica_clocks(const std::vector<ReplicaClock>& clocks) {
  constexpr const char* kName = "replica_clock";
  std::vector<std::string> texts;
  Level level = Level::good;
  for (const auto& [address, ahead] : clocks) {
    if (!ahead) {
      level = Level::warning;
      texts.push_back(address + " cannot be asked: " + ahead.error().message);
      continue;
    }
    const bool is_behind = *ahead < base::Duration::zero();
    const base::Duration distance = is_behind ? -*ahead : *ahead;
    level = distance > kGoodClock ? Level::warning : level;
    texts.push_back(address + " " + base::short_duration(distance) +
                    (is_behind ? " behind" : " ahead"));
  }
  const std::string detail = joined(texts, ", ");
  return level == Level::good
             ? Finding{kName, level, "in step with the master's: " + detail}
             : Finding{kName, level,
                       detail +
                           "; the next master judges leases by its own clock, and tokens of names "
                           "that it does not know begin there: keep the clocks in step"};
}

}  // namespace holdfast::engines::redis::internal
