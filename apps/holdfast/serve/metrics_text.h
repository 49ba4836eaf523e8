#pragma once

#include <string>

#include "apps/holdfast/serve/chronicle.h"
#include "apps/holdfast/serve/http_server.h"
#include "apps/holdfast/serve/snapshot.h"

namespace holdfast::cli::serve {

// Returns the metrics of the server in the text format of Prometheus. No name of a lock is a label.
[[nodiscard]] std::string metrics_text(const Snapshot& snapshot, const Chronicle& chronicle,
                                       const HttpStats& http);

}  // namespace holdfast::cli::serve
