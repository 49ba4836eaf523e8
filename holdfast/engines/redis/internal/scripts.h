#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/internal/key_space.h>

namespace holdfast::engines::redis::internal {

// The positions, in a request, of the names that one run of a script serves.
using Batch = std::vector<std::size_t>;

// Returns batches of at most `most` positions whose names are all in one slot; `slots` has the slot
// of every position. Pure.
[[nodiscard]] std::vector<Batch> split_by_slot(std::span<const std::size_t> positions,
                                               std::span<const std::uint16_t> slots,
                                               std::size_t most);

// The commands that run the scripts for names. Thread-safe.
class Scripts {
 public:
  // The time by which leases are judged. Empty: the server's.
  using Time = std::function<std::chrono::microseconds()>;

  // `connection` and `keys` outlive it.
  Scripts(Connection& connection, const KeySpace& keys, Time time)
      : connection_(connection), keys_(keys), time_(std::move(time)) {}

  // Returns the script with the keys of the name and the argument that all scripts begin with: see
  // record.lua. Add the others.
  [[nodiscard]] Command command(const Script& script, std::string_view name) const;
  // Such a command may be joined with those of other callers: see Command.
  void make_joinable(Command& command) const;

  // A script for several names.
  struct ForMany {
    const Script& script;
    std::vector<Keys> names;
    std::function<void(const Batch& batch, Command& command)> add_arguments;
  };
  // The server's answer for some of many names.
  struct Part {
    Batch batch;
    base::Result<Reply> reply;
  };
  // Runs the script for many names, several with each run. On a node of a cluster, a run serves the
  // names of one slot; the first run that the node refuses for its slots shows that it is one.
  // Blocks, and returns every name in exactly one part. See Connection for `on_silence`.
  [[nodiscard]] std::vector<Part> run(const ForMany& request, base::Deadline deadline,
                                      OnSilence on_silence = OnSilence::wait) const;

 private:
  void add_common(Command& command) const;
  [[nodiscard]] Command command(const ForMany& request, const Batch& batch) const;
  [[nodiscard]] std::vector<Part> run_batches(const ForMany& request, std::vector<Batch> batches,
                                              base::Deadline deadline, OnSilence on_silence) const;

  Connection& connection_;
  const KeySpace& keys_;
  const Time time_;
  mutable std::atomic<bool> is_cluster_ = false;  // the server has refused names of several slots
};

// Durations as the scripts count them.
[[nodiscard]] std::int64_t microseconds(base::Duration duration);

}  // namespace holdfast::engines::redis::internal
