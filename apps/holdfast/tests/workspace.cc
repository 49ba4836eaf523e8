#include <cstdlib>

#include <holdfast/engines/open_store.h>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

Workspace::Workspace()
    : environment_({{"HOME", folder_.path().string()}, {"PATH", std::getenv("PATH")}}) {}

Words Workspace::command(const Words& words) {
  Words all{HOLDFAST_BINARY};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

Outcome Workspace::holdfast(const Words& words, const std::string& input) {
  return run_to_end(command(words), environment_, input);
}

nlohmann::json Workspace::json(const Words& words) {
  const Outcome outcome = holdfast(words);
  return nlohmann::json::parse(outcome.output, nullptr, /*allow_exceptions=*/false);
}

std::unique_ptr<Process> Workspace::start(const Words& words) {
  return std::make_unique<Process>(command(words), environment_);
}

std::unique_ptr<Process> Workspace::start_holder(const Words& words) {
  Words all{"run"};
  all.insert(all.end(), words.begin(), words.end());
  for (const char* const word : {"--", "sh", "-c", "echo ready; read line; true"}) {
    all.emplace_back(word);
  }
  auto holder = start(all);
  EXPECT_EQ(holder->read_line(), "ready") << holder->rest_of_errors();
  return holder;
}

std::string Workspace::store_url() const {
  return "sqlite:" + (folder_ / ".local/state/holdfast/locks.db").string();
}

std::shared_ptr<store::LeaseStore> Workspace::open_store() const {
  return base::value_or_throw(engines::open_store(store_url()));
}

}  // namespace holdfast::cli::testing
