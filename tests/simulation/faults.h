#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <tests/simulation/random.h>

namespace holdfast::simulation {

enum class Fault : std::uint8_t {
  request_lost,
  request_delayed,
  request_duplicated,
  reply_lost,
  reply_delayed,
  connection_reset,
  notice_lost,
  notice_delayed,
  notice_duplicated,
  notice_forged,
  record_refused,
  store_throws,
  partition,
  process_stopped,
  process_crashed,
  process_ended,
  server_stalled,
  server_restarted,
  server_restarted_empty,
  failed_over,
  clock_forward,
  clock_backward,
  clock_drifts,
};
inline constexpr std::size_t kFaults = static_cast<std::size_t>(Fault::clock_drifts) + 1;

[[nodiscard]] std::string_view to_string(Fault fault) noexcept;

// The number of times that each fault was injected, and met something: a message that a caller
// waited for, a lease that ended by it.
struct FaultCounts {
  std::array<std::uint64_t, kFaults> injected{};
  std::array<std::uint64_t, kFaults> hit{};

  void add(const FaultCounts& other) noexcept;
};

// Which fault it was of a history. The same in every replay with the same seed.
using FaultId = std::uint64_t;

// Decides which faults happen in one history, and remembers those that did.
//
// Each decision depends on the seed, the kind of fault and what it would happen to, and on no other
// decision: so a history can be replayed with some of its faults only.
class Faults {
 public:
  // `only`: these happen, and no others.
  Faults(std::uint64_t seed, std::optional<std::set<FaultId>> only)
      : seed_(seed), only_(std::move(only)) {}

  // Returns the id of the fault if it happens to `subject`, else 0.
  [[nodiscard]] FaultId draw(Fault fault, std::uint64_t subject, double probability);
  // The same for one that was planned.
  [[nodiscard]] FaultId take(Fault fault, std::uint64_t subject);
  // Notes that the fault has met something. Once is enough.
  void hit(Fault fault, FaultId id);
  // No fault happens any more.
  void end() noexcept { are_over_ = true; }

  [[nodiscard]] const FaultCounts& counts() const noexcept { return counts_; }
  [[nodiscard]] const std::vector<FaultId>& injected() const noexcept { return injected_; }

 private:
  const std::uint64_t seed_;
  const std::optional<std::set<FaultId>> only_;
  bool are_over_ = false;
  FaultCounts counts_;
  std::vector<FaultId> injected_;
  std::vector<FaultId> met_;
};

// Returns the kind of fault that has this id.
[[nodiscard]] Fault kind_of(FaultId id) noexcept;

}  // namespace holdfast::simulation
