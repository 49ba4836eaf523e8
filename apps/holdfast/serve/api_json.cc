#include <algorithm>
#include <chrono>
#include <iterator>

#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/serve/api_json.h"
#include "apps/holdfast/serve/target.h"

namespace holdfast::cli::serve {

namespace {

using std::chrono::system_clock;

int status_of(base::ErrorCode code) {
  switch (code) {
    case base::ErrorCode::invalid_argument: return 400;
    case base::ErrorCode::busy:
    case base::ErrorCode::conflict: return 409;
    case base::ErrorCode::unavailable:
    case base::ErrorCode::unknown_outcome:
    case base::ErrorCode::limit_exceeded: return 503;
    default: return 500;
  }
}

std::string_view end_text(HoldEnd end) {
  switch (end) {
    case HoldEnd::expired: return "expired";
    case HoldEnd::stolen: return "stolen";
    case HoldEnd::unknown: return "ended";
    case HoldEnd::released: break;
  }
  return "released";
}

}  // namespace

Response json_response(const Json& value) { return {.body = to_line(value) + "\n", .headers = {}}; }

Response error_response(const base::Error& error) {
  return failure(status_of(error.code), base::to_string(error.code), error.message);
}

std::string wall_text(base::TimePoint when) {
  const base::Duration ago = base::boot_clock().now() - when;
  return utc_time(system_clock::now() - std::chrono::duration_cast<system_clock::duration>(ago));
}

Json entry_json(std::string_view name, const Entry& entry, base::Duration age, std::size_t most) {
  Json shown{{"id", id_of(name)}, {"waiter_count", entry.waiters.size()}};
  const Entry first{
      .state = entry.state,
      .waiters = {entry.waiters.begin(),
                  std::next(entry.waiters.begin(),
                            static_cast<std::ptrdiff_t>(std::min(most, entry.waiters.size())))}};
  shown.update(to_json(name, aged(first, age)));
  return shown;
}

Json hold_json(const PastHold& hold) {
  const store::Holder& holder = hold.holder;
  return {{"owner", holder.owner},
          {"reason", holder.reason},
          {"lease_id", base::to_string(holder.id)},
          {"token", holder.token.value()},
          {"permits", permits_json(holder.permits)},
          {"from", wall_text(hold.from)},
          {"until", wall_text(hold.until)},
          {"held_ms", to_ms(hold.until - hold.from)},
          {"waited_ms", hold.waited ? Json(to_ms(*hold.waited)) : Json(nullptr)},
          {"end", end_text(hold.end)}};
}

Json wait_json(const PastWait& wait) {
  return {{"owner", wait.owner},
          {"reason", wait.reason},
          {"from", wall_text(wait.from)},
          {"until", wall_text(wait.until)},
          {"waited_ms", to_ms(wait.until - wait.from)},
          {"end", wait.granted ? "granted" : "ended"}};
}

Json event_json(const LeaseEvent& event) {
  Json line{{"event", to_string(event.kind)},
            {"time", wall_text(event.when)},
            {"id", id_of(event.name)},
            {"name", event.name}};
  line.update(to_json(event.holder));
  return line;
}

}  // namespace holdfast::cli::serve
