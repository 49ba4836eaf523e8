#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/store/lease_store.h>

namespace holdfast::tests {

// An engine whose server restates store/lease_rules, to be compared with them.
struct Restatement {
  using Time = std::function<std::chrono::microseconds()>;

  // A store for one history, which nobody else uses, judged by this time.
  std::function<std::unique_ptr<store::LeaseStore>(const std::string& history, Time time)> open;
  // Few, so that requests meet; awkward ones.
  std::vector<std::string_view> names;
  // The steps in which the server's clock counts.
  std::chrono::microseconds grain{1};
  // The changes that the server may make by itself, at any time, to a name that is not in use.
  std::function<void(const std::string& history, std::string_view name)> forget;
};

// Plays random histories, several at once, of so many operations together. Does the same to the
// engine and to records under LeaseRules, at the same time, and compares every answer, even the
// tokens and the words of errors. Where they first differ in each history; nothing if they do not.
[[nodiscard]] std::vector<std::string> differences(const Restatement& engine, int operations);

}  // namespace holdfast::tests
