#include <holdfast/engines/redis/internal/connection/pending.h>

#include <utility>

#include <holdfast/engines/redis/internal/connection/server_errors.h>

namespace holdfast::engines::redis::internal {

base::Result<Reply> take_result(Call& call) {
  if (call.error) {
    return std::unexpected(*std::move(call.error));
  }
  if (call.reply.is_error()) {
    return std::unexpected(failure_of(call.reply));
  }
  return std::move(call.reply);
}

Call* Flight::newest() const noexcept {
  for (auto place = places_.rbegin(); place != places_.rend(); ++place) {
    if (place->call != nullptr) {
      return place->call;
    }
  }
  return nullptr;
}

void Flight::push_back(std::span<Call* const> calls, base::TimePoint sent) {
  std::size_t joined = calls.size();
  for (Call* const call : calls) {
    call->ticket = first_ticket_ + places_.size();
    call->was_joined = calls.size() > 1;
    places_.push_back({.call = call,
                       .bytes = call->command->bytes().size(),
                       .sent = sent,
                       .joined = std::exchange(joined, 1)});
  }
}

base::TimePoint Flight::leave(Call& call) noexcept {
  Place& place = places_[static_cast<std::size_t>(*call.ticket - first_ticket_)];
  place.call = nullptr;
  call.ticket.reset();
  return place.sent;
}

Flight::Place Flight::pop_front() noexcept {
  const Place place = places_.front();
  places_.pop_front();
  ++first_ticket_;
  if (place.call != nullptr) {
    place.call->ticket.reset();
  }
  return place;
}

}  // namespace holdfast::engines::redis::internal
