#pragma once

#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>

#include "apps/holdfast/torture/checker.h"
#include "apps/holdfast/torture/run.h"
#include "apps/holdfast/torture/settings.h"

namespace holdfast::cli::torture {

// A run that is over, for a report. Borrows all of it.
struct Finished {
  const Settings& settings;
  const RunResult& result;
  const Judgement& judgement;

  // Returns whether no promise was broken.
  [[nodiscard]] bool good() const { return judgement.good() && result.defects.empty(); }
};

// Prints a row of counts now and then, twenty in all.
class Rows {
 public:
  explicit Rows(base::Duration time);

  void show(const Progress& progress);

 private:
  const base::Duration every_;
  Time next_{};
};

// Returns "812 acknowledged, 3 of them lost (0.37 %)" and so on.
[[nodiscard]] std::string updates_text(const Finished& run);
// Print the summary, for people and for programs.
void print_text(const Finished& run);
void print_json(const Finished& run);
// Write a file: the whole history, and a page with a timeline.
[[nodiscard]] base::Result<void> write_history_file(const std::string& file, const Finished& run);
[[nodiscard]] base::Result<void> write_html_file(const std::string& file, const Finished& run);

}  // namespace holdfast::cli::torture
