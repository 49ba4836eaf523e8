#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apps/holdfast/torture/history.h"

namespace holdfast::cli::torture {

// A rule of the model, and how the history kept it.
struct Ruling {
  std::string_view rule;
  std::size_t checked = 0;
  std::size_t violations = 0;
};

// A place where a history broke a rule.
struct Violation {
  std::string_view rule;
  std::uint32_t name = 0;
  Time time{};
  std::string text;
  std::vector<std::size_t> holds{};  // of History::holds, that are part of it
};

// The fate of the writes of the registers.
struct UpdateCount {
  std::size_t acknowledged = 0;
  std::size_t refused = 0;  // by the fence
  std::size_t late = 0;     // acknowledged when the writer had lost its lock
  std::size_t lost = 0;     // acknowledged, and no reader can see that they ever were
};

struct Judgement {
  std::vector<Ruling> rulings;
  std::vector<Violation> violations;  // the first of each rule and name, up to kMostViolations
  UpdateCount updates;

  static constexpr std::size_t kMostViolations = 100;

  [[nodiscard]] bool good() const;
};

// Judges a history against the model of a fenced lock, without regard to the faults of the run:
//
// - The holders of a name that were sure to hold it at the same time have no more permits than it
//   has. A holder is sure from the answer until its lock last said that it was held.
// - A token is greater than those of all holds of the name that were granted before it was asked
// for.
// - Every acknowledged write of a register is visible in its last version, directly or through the
//   writes that read it. Where there is no fence, that is a violation only if every writer of a
//   version said that it still held its lock after its write; otherwise it is counted, and is what
//   a lock cannot prevent.
// - With a fence, the tokens of a register never decrease.
// - When all is over, every name can be acquired.
[[nodiscard]] Judgement judge(const History& history);

}  // namespace holdfast::cli::torture
