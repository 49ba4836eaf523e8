#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <holdfast/base/clock.h>

#include "apps/holdfast/torture/history.h"
#include "apps/holdfast/torture/message.h"

namespace holdfast::cli::torture {

// The number of events so far.
struct Counts {
  std::size_t granted = 0;
  std::size_t busy = 0;
  std::size_t failed = 0;
  std::size_t lost = 0;
  std::size_t updated = 0;
  std::size_t refused = 0;
};

// Makes a history of the reports of the workers.
class Recorder {
 public:
  // A run ends before it has recorded more holds.
  static constexpr std::size_t kMostHolds = 5'000'000;

  Recorder(History& history, base::TimePoint begin) : history_(history), begin_(begin) {}

  void take(const Message& message);
  // A worker has ended: so has what it held.
  void worker_ended(std::uint32_t worker, base::TimePoint when);

  [[nodiscard]] Time since_begin(base::TimePoint time) const { return time - begin_; }
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  // Returns the errors, each with how often it came.
  [[nodiscard]] const std::map<std::string, std::size_t>& errors() const noexcept {
    return errors_;
  }

 private:
  void begin_hold(const Message& message);
  void end_hold(const Message& message);

  History& history_;
  const base::TimePoint begin_;
  Counts counts_;
  std::map<std::string, std::size_t> errors_;
  std::map<std::uint32_t, std::size_t> open_;  // the hold of each worker that has one
};

}  // namespace holdfast::cli::torture
