#include <holdfast/engines/redis/internal/link/pending.h>

#include <utility>

namespace holdfast::engines::redis::internal {

Load load_of(const Call& call) noexcept {
  Load load{.commands = call.commands.size()};
  for (const Command& command : call.commands) {
    load.bytes += command.bytes().size();
  }
  return load;
}

void Flight::push_back(Call& call, base::TimePoint sent) {
  call.ticket = first_ticket_ + places_.size();
  places_.push_back({.call = &call, .load = load_of(call), .sent = sent});
}

void Flight::push_joined(std::span<Call* const> calls, base::TimePoint sent) {
  const std::size_t first = places_.size();
  for (Call* const call : calls) {
    push_back(*call, sent);
  }
  places_[first].joined = calls.size();
}

void Flight::leave(const Call& call) noexcept {
  places_[static_cast<std::size_t>(*call.ticket - first_ticket_)].call = nullptr;
}

base::TimePoint Flight::sent(const Call& call) const noexcept {
  return places_[static_cast<std::size_t>(*call.ticket - first_ticket_)].sent;
}

Flight::Arrival Flight::deliver(Reply reply) {
  Place& place = places_.front();
  place.bytes += place.call != nullptr ? reply.wire_size() : 0;
  const std::size_t bytes = place.bytes;
  if (place.call != nullptr) {
    place.call->replies[place.received] = std::move(reply);
    place.call->received = place.received + 1;
  }
  if (++place.received < place.load.commands) {
    return {.bytes = bytes};
  }
  const Removed removed = pop_front();
  return {.load = removed.load, .finished = removed.call, .bytes = bytes};
}

Call* Flight::newest() const noexcept {
  for (auto place = places_.rbegin(); place != places_.rend(); ++place) {
    if (place->call != nullptr) {
      return place->call;
    }
  }
  return nullptr;
}

Flight::Removed Flight::pop_front() noexcept {
  const Removed removed{.call = places_.front().call, .load = places_.front().load};
  places_.pop_front();
  ++first_ticket_;
  return removed;
}

}  // namespace holdfast::engines::redis::internal
