#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/base/log.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::engines {

// One engine that a URL can name.
struct EngineInfo {
  std::string scheme;                // "sqlite"
  std::string url;                   // "sqlite:/path/to/file.db"
  std::string about;                 // one line
  std::vector<std::string> options;  // "busy_timeout=5s", as after the question mark
};

// The engines of this build.
[[nodiscard]] const std::vector<EngineInfo>& known_engines();

// Opens the store that a URL names: `memory:`, `sqlite:/path/to/file.db?busy_timeout=5s`,
// `redis://host:6379`, `mongodb://host/database`, `postgresql://host/database`, `disabled:`
// (DisabledStore). The option `prefix` puts a text before every name, so that several programs can
// share a store.
//
// `memory:` is a store of its own each time: two providers that opened it do not exclude each
// other. All that open `memory:NAME` in one process share one store, which ends with its last user.
//
// A server need not be running yet: the first operation that needs it is ErrorCode::unavailable
// then. An unknown scheme or option, or an invalid value, is ErrorCode::invalid_argument with a
// message that names the known ones. Otherwise returns the error that the engine reports.
[[nodiscard]] base::Result<std::shared_ptr<store::LeaseStore>> open_store(
    std::string_view url, const base::Logger& logger = {});

}  // namespace holdfast::engines
