#include <tests/simulation/report.h>

#include <chrono>
#include <iomanip>
#include <ostream>
#include <string>

namespace holdfast::simulation {

namespace {

constexpr double kSecondsOfAYear = 365.0 * 24 * 3600;

double years(base::Duration duration) {
  return std::chrono::duration<double>(duration).count() / kSecondsOfAYear;
}

// Returns the digits in groups of three: 500,000.
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t place = text.size(); place > 3;) {
    place -= 3;
    text.insert(place, ",");
  }
  return text;
}

}  // namespace

void Tally::add(std::uint64_t seed, const Outcome& outcome) {
  ++histories;
  events += outcome.events;
  simulated += outcome.simulated;
  faults.add(outcome.faults);
  rows.add(outcome.rows);
  for (std::size_t i = 0; i < kPromises; ++i) {
    checks[i] += outcome.checks[i];
  }
  if (outcome.violation) {
    ++violations[static_cast<std::size_t>(outcome.violation->promise)];
    broken_seeds.push_back(seed);
  }
}

void print(std::ostream& out, const Tally& tally) {
  out << tally.histories << " histories from seed " << tally.first_seed << ", " << std::fixed
      << std::setprecision(2) << years(tally.simulated) << " simulated years, " << tally.events
      << " events, " << tally.cpu_seconds << " s of one core\n\n"
      << std::setw(56) << std::left << "promise" << std::right << std::setw(14) << "checks"
      << std::setw(12) << "violations" << '\n';
  for (std::size_t i = 0; i < kPromises; ++i) {
    out << std::setw(56) << std::left << to_string(static_cast<Promise>(i)) << std::right
        << std::setw(14) << tally.checks[i] << std::setw(12) << tally.violations[i] << '\n';
  }
  out << '\n'
      << std::setw(56) << std::left << "fault" << std::right << std::setw(14) << "injected"
      << std::setw(12) << "hit" << '\n';
  for (std::size_t i = 0; i < kFaults; ++i) {
    out << std::setw(56) << std::left << to_string(static_cast<Fault>(i)) << std::right
        << std::setw(14) << tally.faults.injected[i] << std::setw(12) << tally.faults.hit[i]
        << '\n';
  }
  out << '\n' << "row of the table in locks/steps/acquire_steps.h, and how often it was taken\n";
  for (std::size_t row = 0; row < AcquireRows::kRows; ++row) {
    out << std::setw(14) << tally.rows.counts()[row] << "  " << AcquireRows::text(row) << '\n';
  }
}

void write_markdown(std::ostream& out, const Tally& tally) {
  out << "| promise | checked | violations |\n|---|---|---|\n";
  for (std::size_t i = 0; i < kPromises; ++i) {
    out << "| " << to_string(static_cast<Promise>(i)) << " | " << grouped(tally.checks[i]) << " | "
        << grouped(tally.violations[i]) << " |\n";
  }
  out << "\n"
      << grouped(tally.histories) << " histories, seeds " << grouped(tally.first_seed) << " to "
      << grouped(tally.first_seed + tally.histories - 1) << ": " << std::fixed
      << std::setprecision(1) << years(tally.simulated) << " simulated years, "
      << grouped(tally.events) << " events, " << tally.cpu_seconds << " s of one core.\n\n"
      << "| fault | injected | hit |\n|---|---|---|\n";
  for (std::size_t i = 0; i < kFaults; ++i) {
    out << "| " << to_string(static_cast<Fault>(i)) << " | " << grouped(tally.faults.injected[i])
        << " | " << grouped(tally.faults.hit[i]) << " |\n";
  }
  out << "\n| row of the table of `AcquireSteps` | taken |\n|---|---|\n";
  for (std::size_t row = 0; row < AcquireRows::kRows; ++row) {
    out << "| " << AcquireRows::text(row) << " | " << grouped(tally.rows.counts()[row]) << " |\n";
  }
}

void write_markdown(std::ostream& out, const std::vector<Found>& found) {
  out << "| planted bug | what it does | found after | by | seed |\n|---|---|---|---|---|\n";
  for (const Found& each : found) {
    out << "| `" << each.bug << "` | " << each.what << " | ";
    if (each.is_found) {
      out << grouped(each.histories) << (each.histories == 1 ? " history, " : " histories, ")
          << std::fixed << std::setprecision(2) << each.cpu_seconds << " s | " << each.promise
          << " | " << each.seed << " |\n";
    } else {
      out << "**not found** in " << grouped(each.histories) << " histories | | |\n";
    }
  }
}

}  // namespace holdfast::simulation
