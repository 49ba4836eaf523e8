#include <holdfast/engines/redis/internal/sentinel_route.h>

#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/connection/exchange.h>
#include <holdfast/engines/redis/internal/connection/greeting.h>
#include <holdfast/engines/redis/internal/connection/sentinel_answers.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::Deadline;
using base::fail;
using base::Result;

// The route to whichever Sentinel answers.
class RouteToAnySentinel final : public Route {
 public:
  explicit RouteToAnySentinel(std::shared_ptr<Sentinels> sentinels)
      : sentinels_(std::move(sentinels)) {}

  Result<Opened> open(Deadline deadline) override { return sentinels_->open_any(deadline); }

 private:
  const std::shared_ptr<Sentinels> sentinels_;
};

}  // namespace

SentinelRoute::SentinelRoute(RedisOptions options)
    : options_(std::move(options)), sentinels_(std::make_shared<Sentinels>(options_)) {}

Result<Route::Opened> SentinelRoute::open(Deadline deadline) {
  HOLDFAST_TRY_LET(const Master master, sentinels_->find_master(deadline));
  HOLDFAST_TRY_LET(auto opened, open_master(master, deadline));
  start_listening();
  return opened;
}

Result<Route::Opened> SentinelRoute::open_master(const Master& master, Deadline deadline) {
  RedisOptions options = options_;
  options.sentinel.reset();
  options.host = master.host;
  options.port = master.port;
  const auto limit =
      std::min(deadline, Deadline::after(base::steady_clock(), options.connect_timeout));
  auto wire = connect_and_greet(options, limit);
  const auto checked = [&]() -> Result<void> {
    if (!wire) {
      return std::unexpected(wire.error());
    }
    auto role = exchange(**wire, {Command("ROLE")}, limit);
    auto is_master =
        role ? check_is_master(role->front()) : Result<void>(std::unexpected(role.error()));
    if (!is_master) {
      return fail(is_master.error().code, "the Redis server at " + server_address(options) +
                                              " cannot be used: " + is_master.error().message);
    }
    return {};
  }();
  if (!checked) {
    return fail(checked.error().code, checked.error().message +
                                          "; the Sentinels name it as the master '" +
                                          base::printable(sentinels_->master_name()) + "'");
  }
  return Opened{.wire = *std::move(wire), .address = server_address(options)};
}

void SentinelRoute::notify(OnMove on_move) { on_move_ = std::move(on_move); }

// Does not wait until the Sentinel has confirmed: then the master is asked for once more.
void SentinelRoute::start_listening() {
  const base::MutexLock lock(mutex_);
  if (!on_move_ || is_stopped_) {
    return;
  }
  if (subscriber_ == nullptr) {
    subscriber_ = std::make_unique<Subscriber>(
        options_, "+switch-master",
        Subscriber::Callbacks{.on_message = [this](std::string_view text) { on_message(text); },
                              .on_gap = [this] { on_gap(); }},
        std::make_shared<RouteToAnySentinel>(sentinels_));
  }
  // If there is no thread now, there may be one with the next connection.
  static_cast<void>(subscriber_->start(Deadline::at(base::steady_clock().now())));
}

void SentinelRoute::stop_notifying() {
  sentinels_->stop();
  std::unique_ptr<Subscriber> subscriber;
  {
    const base::MutexLock lock(mutex_);
    is_stopped_ = true;
    subscriber = std::move(subscriber_);
  }
  // Ends here, without the mutex: its thread may be about to open a connection.
}

void SentinelRoute::on_message(std::string_view message) {
  if (const auto address = read_switch(message, sentinels_->master_name())) {
    options_.logger.info("the Sentinels have made " + *address + " the master '" +
                         base::printable(sentinels_->master_name()) + "'");
    on_move_(*address);
  }
}

// If nobody says where the master is, the next connection asks again.
void SentinelRoute::on_gap() {
  if (const auto master = sentinels_->find_master(Deadline::never())) {
    on_move_(server_address(master->host, master->port));
  }
}

}  // namespace holdfast::engines::redis::internal
