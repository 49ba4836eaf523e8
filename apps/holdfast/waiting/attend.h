#pragma once

#include <functional>
#include <optional>
#include <stop_token>

#include "apps/holdfast/waiting/signals.h"
#include "apps/holdfast/waiting/wait_line.h"

namespace holdfast::cli {

// Does `work` in a thread of its own and returns when it has ended. Meanwhile tells people whom
// they wait for, and listens to signals: one that ends a process asks the work to stop, and is
// returned; a request to stop (Ctrl-Z) stops this process until it is continued.
std::optional<int> attend(Signals& signals, WaitLine& line,
                          const std::function<void(const std::stop_token&)>& work);

}  // namespace holdfast::cli
