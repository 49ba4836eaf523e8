#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include <holdfast/base/printable.h>

#include "apps/holdfast/cli/json.h"
#include "apps/holdfast/serve/api.h"
#include "apps/holdfast/serve/page.h"

namespace holdfast::cli::serve {

namespace {

constexpr int kNotFound = 404;
constexpr int kWrongMethod = 405;
constexpr int kBadRequest = 400;

}  // namespace

Api::Api(std::shared_ptr<store::LeaseStore> store, StoreLocation location, const Watcher& watcher,
         const HttpServer& server, Guard guard, std::unique_ptr<const Admin> admin)
    : store_(std::move(store)),
      location_(std::move(location)),
      watcher_(watcher),
      server_(server),
      guard_(std::move(guard)),
      admin_(std::move(admin)),
      health_(std::make_shared<StoreHealth>(store_, location_)) {}

const Api::Route* Api::find_route(std::string_view path) {
  static constexpr std::array kRoutes{
      Route{"/api/v1/names", &Api::names},   Route{"/api/v1/name", &Api::name},
      Route{"/api/v1/why", &Api::why},       Route{"/api/v1/waiters", &Api::waiters},
      Route{"/api/v1/events", &Api::events}, Route{"/api/v1/overview", &Api::overview},
      Route{"/api/v1/health", &Api::health}, Route{"/api/v1/openapi.json", &Api::openapi},
      Route{"/api/v1/stream", &Api::stream}, Route{"/healthz", &Api::healthz},
      Route{"/metrics", &Api::metrics},
  };
  const auto* const found = std::ranges::find(kRoutes, path, &Route::path);
  return found != kRoutes.end() ? found : nullptr;
}

Answer Api::answer(const Request& request) const {
  if (auto refusal = guard_.refuse(request)) {
    return *std::move(refusal);
  }
  const auto target = Target::parse(request.target);
  if (!target) {
    return failure(kBadRequest, "invalid_argument", target.error().message);
  }
  if (admin_ && Admin::knows(target->path)) {
    return admin_->answer(request, *target);
  }
  const Route* const route = find_route(target->path);
  if (route == nullptr && find_file(target->path) == nullptr) {
    return failure(kNotFound, "not_found",
                   fmt::format("there is no {}", base::printable(target->path)));
  }
  if (request.method != "GET" && request.method != "HEAD") {
    Response response = failure(kWrongMethod, "unsupported", "only GET and HEAD are answered here");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  return route != nullptr ? (this->*route->call)(*target) : file_response(request, target->path);
}

}  // namespace holdfast::cli::serve
