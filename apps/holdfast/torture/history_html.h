#pragma once

#include <iosfwd>

#include "apps/holdfast/torture/report.h"

namespace holdfast::cli::torture {

// Writes a page that needs no other file: what was judged, and a timeline of holders and faults, of
// the whole run, or of the part of it around the first violation if there is more than a page can
// show.
void write_html(std::ostream& out, const Finished& run);

}  // namespace holdfast::cli::torture
