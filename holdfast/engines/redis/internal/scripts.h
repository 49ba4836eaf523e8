#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/batches.h>
#include <holdfast/engines/redis/internal/link.h>
#include <holdfast/engines/redis/internal/script.h>

namespace holdfast::engines::redis::internal {

// Runs scripts on the server, which may have forgotten them: it is then told again.
//
// Thread-safe. Blocks and fails as Link does; what the script or the server refuses is an error,
// too (see failure.h).
class Scripts {
 public:
  // The time by which leases are judged. Empty: the server's.
  using Time = std::function<std::chrono::microseconds()>;
  // Adds the number of keys, the keys, and the arguments, beginning with add_common().
  using FillBatch = std::function<void(const Batch& batch, Command& command)>;

  // `link` outlives it.
  Scripts(Link& link, Time time) : link_(link), time_(std::move(time)) {}

  // A command that runs the script: add the number of keys, the keys, and the arguments, beginning
  // with add_common().
  [[nodiscard]] static Command command(const Script& script);

  [[nodiscard]] base::Result<Reply> run(const Script& script, Command command,
                                        base::Deadline deadline) const;
  // Without blocking: calls back, maybe before it returns.
  void submit(const Script& script, Command command, base::Deadline deadline,
              std::function<void(base::Result<Reply> reply)> callback) const;
  // Runs the same script many times, in one go. One result for each.
  [[nodiscard]] std::vector<base::Result<Reply>> run_all(const Script& script,
                                                         std::span<const Command> commands,
                                                         base::Deadline deadline) const;

  // What the server answered for some of many names.
  struct Part {
    Batch batch;
    base::Result<Reply> reply;
  };
  // Runs the script for many names, several with each run; `slots` has the slot of each. On a node
  // of a cluster, a run serves the names of one slot; the first run that the node refuses for its
  // slots shows that it is one. Returns every name in exactly one part. See Link for `on_silence`.
  [[nodiscard]] std::vector<Part> run_for_many(const Script& script,
                                               std::span<const std::uint16_t> slots,
                                               const FillBatch& fill, base::Deadline deadline,
                                               OnSilence on_silence = OnSilence{}) const;

  // The argument that all scripts begin with: see record.lua.
  void add_common(Command& command) const;
  // In how long the plain key of a mutex expires, where the time is the server's.
  [[nodiscard]] static std::chrono::milliseconds expiry_of_mutex(base::Duration ttl);

 private:
  // These leave a refusal of the server as the reply that it is.
  [[nodiscard]] std::vector<Part> run_batches(const Script& script, std::vector<Batch> batches,
                                              const FillBatch& fill, base::Deadline deadline,
                                              OnSilence on_silence) const;
  [[nodiscard]] std::vector<base::Result<Reply>> answers(const Script& script,
                                                         std::span<const Command> commands,
                                                         base::Deadline deadline,
                                                         OnSilence on_silence) const;

  Link& link_;
  const Time time_;
  mutable std::atomic<bool> is_cluster_ = false;  // the server has refused names of several slots
};

// Durations as the scripts count them.
[[nodiscard]] std::int64_t microseconds(base::Duration duration);

}  // namespace holdfast::engines::redis::internal
