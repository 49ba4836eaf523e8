#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "apps/holdfast/torture/checker.h"

// Written from docs/torture.md, with the standard library alone: it must not share a mistake with
// the locks that it judges.
namespace holdfast::cli::torture {

namespace {

constexpr std::string_view kPermits = "no more holders than permits";
constexpr std::string_view kTokens = "tokens strictly increase";
constexpr std::string_view kVisible = "no acknowledged update is lost";
constexpr std::string_view kOrder = "the fence accepts no stale token";
constexpr std::string_view kFree = "every name is free again at the end";

class Judge {
 public:
  explicit Judge(const History& history) : history_(history), holds_(history.names.size()) {
    for (std::size_t i = 0; i < history.holds.size(); ++i) {
      holds_[history.holds[i].name].push_back(i);
    }
  }

  Judgement judge() {
    rule(kPermits, [this](std::uint32_t name) { return check_permits(name); });
    rule(kTokens, [this](std::uint32_t name) { return check_tokens(name); });
    rule(kVisible, [this](std::uint32_t name) { return check_updates(name); });
    if (history_.fenced) {
      rule(kOrder, [this](std::uint32_t name) { return check_order(name); });
    }
    rule(kFree, [this](std::uint32_t name) { return check_free(name); });
    return std::move(found_);
  }

 private:
  // Returns how many things the check of each name has looked at, added up.
  template <class Check>
  void rule(std::string_view text, Check check) {
    found_.rulings.push_back({.rule = text});
    for (std::uint32_t name = 0; name < history_.names.size(); ++name) {
      const std::size_t checked = check(name);
      found_.rulings.back().checked += checked;
    }
  }

  void violated(std::uint32_t name, Time time, std::string text,
                std::vector<std::size_t> holds = {}) {
    Ruling& ruling = found_.rulings.back();
    ++ruling.violations;
    if (found_.violations.size() < Judgement::kMostViolations) {
      found_.violations.push_back({.rule = ruling.rule,
                                   .name = name,
                                   .time = time,
                                   .text = std::move(text),
                                   .holds = std::move(holds)});
    }
  }

  [[nodiscard]] std::string describe(std::size_t index) const {
    const Hold& hold = history_.holds[index];
    return "worker " + std::to_string(hold.worker) + " with token " + std::to_string(hold.token);
  }

  // The permits in use change at the begin and at the end of each hold: an end counts first.
  std::size_t check_permits(std::uint32_t name) {
    std::vector<std::tuple<Time, bool, std::size_t>> changes;
    for (const std::size_t i : holds_[name]) {
      const Hold& hold = history_.holds[i];
      if (hold.sure > hold.granted) {
        changes.emplace_back(hold.granted, true, i);
        changes.emplace_back(hold.sure, false, i);
      }
    }
    std::ranges::sort(changes);
    std::uint64_t used = 0;
    std::vector<std::size_t> holders;
    for (const auto& [time, begins, i] : changes) {
      const std::uint32_t permits = history_.holds[i].permits;
      if (!begins) {
        used -= permits;
        std::erase(holders, i);
        continue;
      }
      used += permits;
      holders.push_back(i);
      if (used > history_.names[name].permits) {
        report_holders(name, time, holders);
      }
    }
    return holds_[name].size();
  }

  void report_holders(std::uint32_t name, Time time, const std::vector<std::size_t>& holders) {
    constexpr std::size_t kShown = 4;
    std::string text = "held at the same time by ";
    for (std::size_t i = 0; i < holders.size() && i < kShown; ++i) {
      text += (i == 0 ? "" : ", ") + describe(holders[i]);
    }
    if (holders.size() > kShown) {
      text += " and " + std::to_string(holders.size() - kShown) + " others";
    }
    violated(name, time, std::move(text), holders);
  }

  std::size_t check_tokens(std::uint32_t name) {
    std::vector<std::size_t> by_answer = holds_[name];
    std::vector<std::size_t> by_call = by_answer;
    std::ranges::sort(by_answer, {}, [this](std::size_t i) { return history_.holds[i].granted; });
    std::ranges::sort(by_call, {}, [this](std::size_t i) { return history_.holds[i].asked; });
    std::size_t answered = 0;
    std::size_t greatest = 0;  // of those answered
    bool any = false;
    for (const std::size_t i : by_call) {
      const Hold& hold = history_.holds[i];
      for (;
           answered < by_answer.size() && history_.holds[by_answer[answered]].granted < hold.asked;
           ++answered) {
        const std::size_t other = by_answer[answered];
        if (!any || history_.holds[other].token > history_.holds[greatest].token) {
          greatest = other;
          any = true;
        }
      }
      if (any && hold.token <= history_.holds[greatest].token) {
        violated(name, hold.granted, describe(i) + " came after " + describe(greatest),
                 {greatest, i});
      }
    }
    return holds_[name].size();
  }

  std::size_t check_updates(std::uint32_t name) {
    const std::unordered_set<std::uint64_t> visible = visible_writes(name);
    std::size_t checked = 0;
    std::size_t late = 0;
    std::vector<const Update*> lost;
    std::unordered_set<std::uint64_t> answered;
    for (const Update& update : history_.updates) {
      if (update.name != name) {
        continue;
      }
      ++checked;
      answered.insert(update.write);
      found_.updates.refused += update.acknowledged ? 0U : 1U;
      found_.updates.acknowledged += update.acknowledged ? 1U : 0U;
      late += update.acknowledged && !update.held_afterwards ? 1U : 0U;
      if (update.acknowledged && !visible.contains(update.write)) {
        lost.push_back(&update);
      }
    }
    found_.updates.late += late;
    found_.updates.lost += lost.size();
    if (history_.fenced || (late == 0 && all_answered(name, answered))) {
      for (const Update* const update : lost) {
        violated(name, update->time,
                 "an update of worker " + std::to_string(update->worker) +
                     " was acknowledged and is lost");
      }
    }
    return checked;
  }

  // Returns whether every version is of one of these writes. The writer of another was killed
  // before it could say so, and may have lost its lock before it wrote.
  [[nodiscard]] bool all_answered(std::uint32_t name,
                                  const std::unordered_set<std::uint64_t>& writes) const {
    return name >= history_.registers.size() ||
           std::ranges::all_of(history_.registers[name], [&](const Version& version) {
             return writes.contains(version.write);
           });
  }

  // Returns the writes that the last version of the register builds on.
  [[nodiscard]] std::unordered_set<std::uint64_t> visible_writes(std::uint32_t name) const {
    std::unordered_set<std::uint64_t> visible;
    if (name >= history_.registers.size() || history_.registers[name].empty()) {
      return visible;
    }
    const std::vector<Version>& versions = history_.registers[name];
    std::unordered_map<std::uint64_t, std::uint64_t> read_by;
    for (const Version& version : versions) {
      read_by[version.write] = version.read;
    }
    for (auto at = read_by.find(versions.back().write);
         at != read_by.end() && visible.insert(at->first).second; at = read_by.find(at->second)) {
    }
    return visible;
  }

  std::size_t check_order(std::uint32_t name) {
    if (name >= history_.registers.size()) {
      return 0;
    }
    std::uint64_t greatest = 0;
    for (const Version& version : history_.registers[name]) {
      if (version.token < greatest) {
        violated(name, Time::zero(),
                 "a write with token " + std::to_string(version.token) + " after one with token " +
                     std::to_string(greatest));
      }
      greatest = std::max(greatest, version.token);
    }
    return history_.registers[name].size();
  }

  std::size_t check_free(std::uint32_t name) {
    const auto is_in = [name](const std::vector<std::uint32_t>& names) {
      return std::ranges::find(names, name) != names.end();
    };
    if (is_in(history_.never_free)) {
      violated(name, Time::zero(), "nobody can acquire it");
    }
    return is_in(history_.unknown) ? 0 : 1;
  }

  const History& history_;
  std::vector<std::vector<std::size_t>> holds_;  // of each name
  Judgement found_;
};

}  // namespace

bool Judgement::good() const {
  return std::ranges::all_of(rulings, [](const Ruling& ruling) { return ruling.violations == 0; });
}

Judgement judge(const History& history) { return Judge(history).judge(); }

}  // namespace holdfast::cli::torture
