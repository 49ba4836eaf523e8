#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tests/support/temporary_folder.h>

#include <holdfast/store/lease_store.h>

#include "apps/holdfast/tests/process.h"

namespace holdfast::cli::testing {

// A test with a home folder of its own, in which it drives the real program.
class Workspace : public ::testing::Test {
 protected:
  Workspace();

  // `holdfast` and these words.
  [[nodiscard]] static Words command(const Words& words);
  // Runs it to its end.
  Outcome holdfast(const Words& words, const std::string& input = {});
  // The same, and what it printed as JSON.
  nlohmann::json json(const Words& words);
  // Starts it beside the test.
  [[nodiscard]] std::unique_ptr<Process> start(const Words& words);
  // Starts `holdfast run` with these words and a command that says "ready", and ends when its input
  // does. Returns when it is ready.
  [[nodiscard]] std::unique_ptr<Process> start_holder(const Words& words);

  // The program's default store, opened here.
  [[nodiscard]] std::shared_ptr<store::LeaseStore> open_store() const;
  [[nodiscard]] std::string store_url() const;
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_.path(); }
  Environment& environment() noexcept { return environment_; }

 private:
  const tests::TemporaryFolder folder_;
  Environment environment_;
};

}  // namespace holdfast::cli::testing
