#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <vector>

#include <tests/simulation/history.h>

namespace holdfast::simulation {

// The findings of many histories together.
struct Tally {
  std::uint64_t first_seed = 0;
  std::uint64_t histories = 0;
  std::uint64_t events = 0;
  base::Duration simulated{};
  double cpu_seconds = 0;
  FaultCounts faults{};
  AcquireRows rows{};
  std::array<std::uint64_t, kPromises> checks{};
  std::array<std::uint64_t, kPromises> violations{};
  std::vector<std::uint64_t> broken_seeds{};

  void add(std::uint64_t seed, const Outcome& outcome);
};

// The effort that it took to find a planted bug.
struct Found {
  std::string_view bug;
  std::string_view what;
  bool is_found = false;
  std::uint64_t seed = 0;
  std::uint64_t histories = 0;
  double cpu_seconds = 0;
  std::string_view promise{};
};

void print(std::ostream& out, const Tally& tally);
// The tables of docs/evidence.md.
void write_markdown(std::ostream& out, const Tally& tally);
void write_markdown(std::ostream& out, const std::vector<Found>& found);

}  // namespace holdfast::simulation
