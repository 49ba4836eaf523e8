#pragma once

#include <iosfwd>

#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/torture/checker.h"
#include "apps/holdfast/torture/history.h"

namespace holdfast::cli::torture {

// Returns what was judged, and how: the object that `--json` prints, without its counts.
[[nodiscard]] Json to_json(const History& history, const Judgement& judgement);
// Writes the whole history as one JSON object, a line for each hold, update, fault and violation.
void write_json(std::ostream& out, const History& history, const Judgement& judgement);

}  // namespace holdfast::cli::torture
