#pragma once

#include <string_view>

#include <holdfast/locks/lock_provider.h>

namespace holdfast {

// Opens the store that `url` names and returns a provider of locks on it: `memory:`,
// `sqlite:locks.db`, `redis://host`, `mongodb://host/database`, `postgresql://host/database`.
//
// Throws base::Exception: invalid_argument for an unknown scheme or option, with a message that
// names the known ones; otherwise the error that the engine reports. A server need not be running
// yet: the first operation that needs it is ErrorCode::unavailable then. For an error value instead
// of an exception, call engines::open_store() and construct a LockProvider.
//
//   auto locks = holdfast::open("sqlite:locks.db");
//   auto lock = locks.acquire("report");
[[nodiscard]] locks::LockProvider open(std::string_view url, locks::ProviderOptions options = {});

}  // namespace holdfast
