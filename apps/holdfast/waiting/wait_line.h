#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/store/lease_store.h>
#include <holdfast/store/outcome.h>

#include "apps/holdfast/cli/session.h"

namespace holdfast::cli {

// waiting 12s · held by ci@host pid 41 "deploy 812" for 3m · lease 8s left
[[nodiscard]] std::string waiting_text(base::Duration waited,
                                       const std::optional<store::NameState>& state);

// Tells people whom they wait for: on a terminal as a line that lives, with -v elsewhere as a line
// whenever somebody else holds the name, else not at all.
class WaitLine {
 public:
  WaitLine(Session& session, std::string name);
  ~WaitLine() { session_.console().erase(); }
  WaitLine(const WaitLine&) = delete;
  WaitLine& operator=(const WaitLine&) = delete;

  // To be called every second. Asks the store.
  void tick();
  void erase() { session_.console().erase(); }
  [[nodiscard]] base::Duration waited() const;

 private:
  Session& session_;
  const std::string name_;
  const base::TimePoint started_;
  std::vector<std::uint64_t> told_;  // the tokens of those that were named last
};

}  // namespace holdfast::cli
