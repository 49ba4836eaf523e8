#include <tests/simulation/faults.h>

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

constexpr std::array<std::string_view, kFaults> kNames{"request lost",
                                                       "request delayed",
                                                       "request duplicated",
                                                       "reply lost",
                                                       "reply delayed",
                                                       "connection reset",
                                                       "notice lost",
                                                       "notice delayed",
                                                       "notice duplicated",
                                                       "notice forged",
                                                       "record refused",
                                                       "store throws",
                                                       "partition",
                                                       "process stopped",
                                                       "process crashed",
                                                       "process ended",
                                                       "server stalled",
                                                       "server restarted",
                                                       "server restarted empty",
                                                       "failed over",
                                                       "server clock forward",
                                                       "server clock backward",
                                                       "client clock drifts"};

constexpr FaultId id_of(Fault fault, std::uint64_t subject) noexcept {
  return (subject << 8U) | (static_cast<FaultId>(fault) + 1);
}

}  // namespace

std::string_view to_string(Fault fault) noexcept { return kNames[static_cast<std::size_t>(fault)]; }

void FaultCounts::add(const FaultCounts& other) noexcept {
  for (std::size_t i = 0; i < kFaults; ++i) {
    injected[i] += other.injected[i];
    hit[i] += other.hit[i];
  }
}

Fault kind_of(FaultId id) noexcept { return static_cast<Fault>((id & 0xffU) - 1); }

FaultId Faults::draw(Fault fault, std::uint64_t subject, double probability) {
  if (probability <= 0 || are_over_ ||
      !Random(mix(mix(seed_, static_cast<std::uint64_t>(fault) + 1), subject))
           .chance(probability)) {
    return 0;
  }
  return take(fault, subject);
}

FaultId Faults::take(Fault fault, std::uint64_t subject) {
  const FaultId id = id_of(fault, subject);
  if (are_over_ || (only_ && !only_->contains(id))) {
    return 0;
  }
  ++counts_.injected[static_cast<std::size_t>(fault)];
  injected_.push_back(id);
  return id;
}

void Faults::hit(Fault fault, FaultId id) {
  if (id == 0 || std::ranges::find(met_, id) != met_.end()) {
    return;
  }
  met_.push_back(id);
  ++counts_.hit[static_cast<std::size_t>(fault)];
}

}  // namespace holdfast::simulation
