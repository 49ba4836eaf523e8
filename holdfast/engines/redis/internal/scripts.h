#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
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
  using Fill = std::function<void(Command& command)>;

  // `link` outlives it.
  Scripts(Link& link, Time time) : link_(link), time_(std::move(time)) {}

  [[nodiscard]] base::Result<Reply> run(const Script& script, const Fill& fill,
                                        base::Deadline deadline) const;
  // Without blocking: calls back, maybe before it returns. `fill` may be called again until then.
  void submit(const Script& script, Fill fill, base::Deadline deadline,
              std::function<void(base::Result<Reply> reply)> callback) const;
  // The same script many times, in one go; `fill` is told which. The first error counts for all.
  [[nodiscard]] base::Result<std::vector<Reply>> run_all(
      const Script& script, std::size_t count,
      const std::function<void(std::size_t which, Command& command)>& fill,
      base::Deadline deadline) const;

  // The argument that all scripts begin with: see record.lua.
  void add_common(Command& command) const;
  // In how long the plain key of a mutex expires, where the time is the server's.
  [[nodiscard]] static std::chrono::milliseconds expiry_of_mutex(base::Duration ttl);

 private:
  Link& link_;
  const Time time_;
};

}  // namespace holdfast::engines::redis::internal
