#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/holdfast/torture/end_request.h"
#include "apps/holdfast/torture/history.h"
#include "apps/holdfast/torture/proxy.h"
#include "apps/holdfast/torture/recorder.h"
#include "apps/holdfast/torture/server.h"
#include "apps/holdfast/torture/settings.h"

namespace holdfast::cli::torture {

// The state of a run.
struct Progress {
  Time elapsed{};
  Counts counts;
  std::size_t faults = 0;
};

// All that a run leaves.
struct RunResult {
  History history;
  Counts counts;
  std::map<std::string, std::size_t> errors{};
  std::vector<std::string> defects{};  // workers that crashed, or whose calls did not end
  bool is_cut_short = false;           // it ended early: there were too many holds to keep more
  bool is_store_silent = false;        // at the end, it did not say whether names are free
  std::optional<int> signal{};         // that asked the run to end
};

// The world around a run. Borrows all of it; a proxy and a server only where there is one.
struct Surroundings {
  EndRequest& ending;
  Proxy* proxy;
  Server* server;
  std::function<void(const Progress&)> show;  // called at every event
};

// Lets workers and the nemesis loose on the store. The last fifth of the time is free of faults.
// Call it where this process has one thread, and when the store is known to work.
[[nodiscard]] RunResult run(const Settings& settings, const Surroundings& around);

}  // namespace holdfast::cli::torture
