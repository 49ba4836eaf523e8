#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/engines/store_url.h>

#include "apps/holdfast/cli/console.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/torture/history_html.h"
#include "apps/holdfast/torture/history_json.h"
#include "apps/holdfast/torture/report.h"

namespace holdfast::cli::torture {

namespace {

template <class... Cells>
void print_row(const Cells&... cells) {
  std::string text;
  ((text += fmt::format("{:>10}", cells)), ...);
  write_output(text + "\n");
}

void print_errors(const Finished& run) {
  for (const auto& [text, count] : run.result.errors) {
    print_output("failed {} times: {}\n", count, base::printable_message(text));
  }
}

void print_early_end(const Finished& run) {
  if (run.result.is_cut_short) {
    print_output("ended early: {} leases are all that is kept\n", run.result.history.holds.size());
  }
  if (run.result.is_store_silent) {
    print_output("at the end, the store did not say whether the names are free\n");
  }
}

void print_violations(const Finished& run) {
  for (const Violation& violation : run.judgement.violations) {
    print_output("{} {} at {:.3f} s: {}\n", paint(Colour::red, violation.rule),
                 run.result.history.names[violation.name].text,
                 std::chrono::duration<double>(violation.time).count(), violation.text);
  }
  for (const std::string& defect : run.result.defects) {
    print_output("{}\n", paint(Colour::red, defect));
  }
}

base::Result<void> write_file(const std::string& file,
                              const std::function<void(std::ostream&)>& write) {
  std::ofstream out(file);
  write(out);
  out.close();
  if (!out) {
    return base::fail(base::ErrorCode::failed, "cannot write " + base::printable(file));
  }
  return {};
}

}  // namespace

Rows::Rows(base::Duration time)
    : every_(std::max<base::Duration>(time / 20, std::chrono::seconds(1))) {}

void Rows::show(const Progress& progress) {
  if (progress.elapsed < next_) {
    return;
  }
  if (next_ == Time::zero()) {
    print_row("TIME", "GRANTED", "BUSY", "FAILED", "LOST", "UPDATES", "REFUSED", "FAULTS");
  }
  const Counts& counts = progress.counts;
  print_row(rough(progress.elapsed), counts.granted, counts.busy, counts.failed, counts.lost,
            counts.updated, counts.refused, progress.faults);
  static_cast<void>(flush_output());  // main reports what could not be written
  next_ = progress.elapsed + every_;
}

std::string updates_text(const Finished& run) {
  const UpdateCount& updates = run.judgement.updates;
  const double percent = 100.0 * static_cast<double>(updates.lost) /
                         static_cast<double>(std::max<std::size_t>(updates.acknowledged, 1));
  std::string text =
      fmt::format("{} acknowledged, {} of them lost ({:.2f} %); {} written after the lock was lost",
                  updates.acknowledged, updates.lost, percent, updates.late);
  if (run.settings.fence) {
    return text + fmt::format(", {} refused by the fence", updates.refused);
  }
  return text + (updates.late > 0 ? ": --fence refuses these" : "");
}

void print_text(const Finished& run) {
  std::vector<std::vector<std::string>> cells{{"PROMISE", "CHECKED", "VIOLATIONS"}};
  for (const Ruling& ruling : run.judgement.rulings) {
    cells.push_back({std::string(ruling.rule), std::to_string(ruling.checked),
                     std::to_string(ruling.violations)});
  }
  print_output("\n{}\nupdates: {}\n", table(cells), updates_text(run));
  print_errors(run);
  print_early_end(run);
  print_violations(run);
  print_output("{}: seed {}\n",
               run.good() ? paint(Colour::green, "no promise was broken")
                          : paint(Colour::red, "a promise was broken"),
               run.settings.seed);
}

void print_json(const Finished& run) {
  const RunResult& result = run.result;
  Json defects = Json::array();
  for (const std::string& defect : result.defects) {
    defects.push_back(defect);
  }
  Json all{{"store", engines::without_password(run.settings.url)},
           {"seed", run.settings.seed},
           {"granted", result.counts.granted},
           {"busy", result.counts.busy},
           {"failed", result.counts.failed},
           {"lost", result.counts.lost},
           {"faults", result.history.faults.size()},
           {"cut_short", result.is_cut_short},
           {"store_silent", result.is_store_silent},
           {"defects", std::move(defects)}};
  all.update(to_json(result.history, run.judgement));
  print_line(all);
}

base::Result<void> write_history_file(const std::string& file, const Finished& run) {
  return write_file(file,
                    [&](std::ostream& out) { write_json(out, run.result.history, run.judgement); });
}

base::Result<void> write_html_file(const std::string& file, const Finished& run) {
  return write_file(file, [&](std::ostream& out) { write_html(out, run); });
}

}  // namespace holdfast::cli::torture
