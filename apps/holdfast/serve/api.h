#pragma once

#include <memory>
#include <string>

#include <holdfast/store/lease_store.h>

#include "apps/holdfast/cli/store_location.h"
#include "apps/holdfast/serve/admin.h"
#include "apps/holdfast/serve/guard.h"
#include "apps/holdfast/serve/http_server.h"
#include "apps/holdfast/serve/message.h"
#include "apps/holdfast/serve/store_health.h"
#include "apps/holdfast/serve/target.h"
#include "apps/holdfast/serve/watcher.h"

namespace holdfast::cli::serve {

// The answers of the server: the JSON API, metrics, health and the files of the page. Reads the
// watcher's snapshots; asks the store itself only for `why` and for the checks of `health`.
//
// Thread-safe. Outlives the server that calls it.
class Api {
 public:
  // Without an `admin` nothing can be changed.
  Api(std::shared_ptr<store::LeaseStore> store, StoreLocation location, const Watcher& watcher,
      const HttpServer& server, Guard guard, std::unique_ptr<const Admin> admin);

  [[nodiscard]] Answer answer(const Request& request) const;
  [[nodiscard]] Event newest() const;

 private:
  using Call = Answer (Api::*)(const Target&) const;
  struct Route {
    std::string_view path;
    Call call;
  };
  static const Route* find_route(std::string_view path);

  [[nodiscard]] Answer names(const Target& target) const;
  [[nodiscard]] Answer name(const Target& target) const;
  [[nodiscard]] Answer why(const Target& target) const;
  [[nodiscard]] Answer waiters(const Target& target) const;
  [[nodiscard]] Answer events(const Target& target) const;
  [[nodiscard]] Answer overview(const Target& target) const;
  [[nodiscard]] Answer health(const Target& target) const;
  [[nodiscard]] Answer openapi(const Target& target) const;
  [[nodiscard]] Answer stream(const Target& target) const;
  [[nodiscard]] Answer healthz(const Target& target) const;
  [[nodiscard]] Answer metrics(const Target& target) const;

  const std::shared_ptr<store::LeaseStore> store_;
  const StoreLocation location_;
  const Watcher& watcher_;
  const HttpServer& server_;
  const Guard guard_;
  const std::unique_ptr<const Admin> admin_;
  const std::shared_ptr<StoreHealth> health_;
};

}  // namespace holdfast::cli::serve
