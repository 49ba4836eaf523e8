#include <holdfast/engines/redis/internal/connection/route.h>

#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/connection/greeting.h>
#include <holdfast/engines/redis/internal/sentinel_route.h>

namespace holdfast::engines::redis::internal {

namespace {

class FixedRoute final : public Route {
 public:
  explicit FixedRoute(RedisOptions options) : options_(std::move(options)) {}

  base::Result<Opened> open(base::Deadline deadline) override {
    HOLDFAST_TRY_LET(auto wire, connect_and_greet(options_, deadline));
    return Opened{.wire = std::move(wire), .address = server_address(options_)};
  }

 private:
  const RedisOptions options_;
};

}  // namespace

std::shared_ptr<Route> route_to(const RedisOptions& options) {
  if (options.sentinel) {
    return std::make_shared<SentinelRoute>(options);
  }
  return std::make_shared<FixedRoute>(options);
}

}  // namespace holdfast::engines::redis::internal
