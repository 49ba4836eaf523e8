#pragma once

#include <optional>
#include <string>
#include <variant>

#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>

#include "apps/holdfast/cli/session.h"
#include "apps/holdfast/waiting/signals.h"
#include "apps/holdfast/waiting/wait_line.h"

namespace holdfast::cli {

// Held by others until the wait was over.
struct NotFree {
  std::optional<store::NameState> state;  // of the holders, if the store could say
};
// A signal came first; nothing is held.
struct Interrupted {
  int signal;
};
using Acquired = std::variant<locks::Lock, NotFree, Interrupted>;

// Acquires the name within `options.wait`, which has a value. Tries once in the calling thread, for
// that is all that most callers need, and only then waits, attended (see attend.h).
//
// A name that is held alone and one that is shared exclude each other, although to the store they
// are of two kinds: such a claim waits, too. Other capacities are ErrorCode::conflict.
[[nodiscard]] base::Result<Acquired> acquire_patiently(Session& session, Signals& signals,
                                                       locks::LockProvider& provider,
                                                       const std::string& name,
                                                       const locks::AcquireOptions& options,
                                                       const WaitStyle& style = {});

// Returns an error if a wait for so much of the name would never end, because a command that this
// process runs under holds it.
[[nodiscard]] base::Result<void> check_not_own(Session& session, const std::string& name,
                                               const store::Permits& wanted);

// The message for a user who could not have it.
[[nodiscard]] base::Error not_free_error(const std::string& name, const NotFree& busy,
                                         base::Duration wait);

}  // namespace holdfast::cli
