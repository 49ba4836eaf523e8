#include <holdfast/engines/redis/internal/lease_requests.h>

#include <chrono>
#include <cstdint>
#include <variant>

#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/answers.h>
#include <holdfast/engines/redis/internal/lua.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::LeaseId;
using base::Name;
using base::Result;

static_assert(QueuedClaims::kForgotten == std::chrono::milliseconds(lua::kQueueMs));

// A lease as the scripts keep it.
std::string lease_text(const store::Claim& claim) {
  return words(microseconds(claim.ttl.unchecked()), to_string(claim.id), claim.owner.size(),
               claim.owner)
      .append(claim.reason);
}

// Returns in how long the plain key of a mutex expires, where the time is the server's.
std::chrono::milliseconds expiry_of_mutex(base::Duration ttl) {
  return std::chrono::ceil<std::chrono::milliseconds>(ttl) +
         std::chrono::milliseconds(lua::kGraceMs);
}

bool is_mutex(const store::Claim& claim) { return claim.permits == store::Permits::mutex(); }

// The fate of a refused claim's position in the queue: see claim.lua.
enum class Place : std::uint8_t {
  as_before,
  joins,  // or stays
  early,  // joins before the store listens
  leaves,
};

std::string_view text_of(Place place) {
  switch (place) {
    case Place::as_before: break;
    case Place::joins: return "joins";
    case Place::early: return "early";
    case Place::leaves: return "leaves";
  }
  return {};
}

// Notes where the claim is after this answer.
void note_place(QueuedClaims& queued, const Name& name, const LeaseId& id, Place place,
                Result<store::ClaimOutcome>& outcome) {
  const bool joins = place == Place::joins || place == Place::early;
  auto* const busy = outcome ? std::get_if<store::Busy>(&*outcome) : nullptr;
  const bool is_unknown = !outcome && outcome.error().code == ErrorCode::unknown_outcome;
  if (joins && (busy != nullptr || is_unknown)) {
    queued.add(name.view(), id, base::boot_clock().now());
  } else if (outcome && (busy == nullptr || place == Place::leaves)) {
    queued.remove(name.view(), id);
  }
  if (busy != nullptr) {
    busy->pending = place != Place::leaves;
  }
}

}  // namespace

LeaseRequests::LeaseRequests(RedisOptions options, const Scripts::Time& time)
    : LeaseRequests(std::make_unique<Connection>(std::move(options)), time) {}

LeaseRequests::LeaseRequests(std::unique_ptr<Connection> new_connection, const Scripts::Time& time)
    : keys(new_connection->options().prefix),
      scripts(*new_connection, keys, time),
      connection(std::move(new_connection)),
      watches(*connection, scripts, keys, queued),
      acknowledger(connection->options().ack == 0
                       ? nullptr
                       : std::make_unique<Acknowledger>(connection->options(), keys, time)) {
  connection->on_unfit([this] { watches.reconnect(); });
  connection->on_move([this](const std::string& address) { watches.move_to(address); });
}

void LeaseRequests::close() {
  if (acknowledger != nullptr) {
    acknowledger->close();
  }
  connection->close();
}

std::string LeaseRequests::member(const LeaseId& id) const {
  return words(watches.store_id(), to_string(id));
}

std::string LeaseRequests::queued_member(const Name& name, const LeaseId& id) const {
  return queued.contains(name.view(), id) ? member(id) : std::string();
}

bool LeaseRequests::yields() const noexcept {
  return connection->options().yield_every > base::Duration::zero();
}

Request<store::ClaimOutcome> LeaseRequests::claim(const Name& name, const store::Claim& claim) {
  std::string_view waits_as = watches.waits_as(name.view());
  const bool is_watched = !waits_as.empty();
  const std::string member = is_mutex(claim) ? queued_member(name, claim.id) : std::string();
  Place place = Place::as_before;
  const auto listening = watches.listening();
  if (is_mutex(claim) && claim.waits && listening != WatchTable::Listening::no) {
    place = listening == WatchTable::Listening::yes ? Place::joins : Place::early;
    waits_as = watches.store_id();
    queued.may_join(claim.id);
  } else if (!claim.waits && !member.empty()) {
    place = Place::leaves;
    if (watches.count(name.view()) < 2) {
      waits_as = {};  // only the waiter watches whose claim this is
    }
  }

  Command command = scripts.command(lua::kClaim, name.view());
  command.add(to_string(claim.id)).add(lease_text(claim));
  if (is_mutex(claim)) {
    command.add(expiry_of_mutex(claim.ttl.unchecked()).count());
  } else {
    command.add("");
  }
  const bool is_usual = is_mutex(claim) && !is_watched && member.empty();
  if (is_usual) {
    scripts.make_joinable(command);
  }
  if (!is_usual || place != Place::as_before) {
    command.add(words(claim.permits.count, claim.permits.capacity, microseconds(claim.holds_back),
                      waits_as, text_of(place)));
  }
  const base::Duration ttl = claim.ttl.unchecked();
  if (place == Place::as_before && member.empty()) {
    return {.command = std::move(command),
            .read = [ttl](Result<Reply> reply) { return claim_outcome(std::move(reply), ttl); }};
  }
  if (!member.empty()) {
    command.add(member);
  }
  return {.command = std::move(command),
          .read = [&queued = queued, name, id = claim.id, place, ttl](Result<Reply> reply) {
            Result<store::ClaimOutcome> outcome = claim_outcome(std::move(reply), ttl);
            note_place(queued, name, id, place, outcome);
            return outcome;
          }};
}

// A waiter that was handed the name leaves the queue.
Request<store::TransferOutcome> LeaseRequests::transfer(const Name& name, const LeaseId& from,
                                                        const store::Claim& to) {
  const std::string from_member = queued_member(name, from);
  const std::string to_member = queued_member(name, to.id);
  // Only where a holder makes room for a waiter.
  const bool may_yield = yields() && to.waits && is_mutex(to);

  Command command = scripts.command(lua::kTransfer, name.view());
  command.add(to_string(from)).add(lease_text(to)).add(to.permits.count).add(to.permits.capacity);
  if (may_yield || !from_member.empty() || !to_member.empty()) {
    command.add(from_member).add(to_member);
  }
  if (may_yield) {
    command.add(microseconds(connection->options().yield_every));
  }
  const auto read = [&queued = queued, name, from, id = to.id, was_queued = !to_member.empty()](
                        Result<Reply> reply) -> Result<store::TransferOutcome> {
    HOLDFAST_TRY_LET(auto outcome, transfer_outcome(std::move(reply)));
    if (std::holds_alternative<store::HeldBack>(outcome)) {
      return outcome;
    }
    queued.remove(name.view(), from);
    if (std::holds_alternative<store::Grant>(outcome) && was_queued) {
      queued.remove(name.view(), id);
    }
    return outcome;
  };
  return {.command = std::move(command), .read = read};
}

Request<store::ReleaseOutcome> LeaseRequests::release(const Name& name, const LeaseId& id) {
  const std::string_view waits_as = watches.waits_as(name.view());
  const bool was_queued = queued.remove(name.view(), id);

  Command command = scripts.command(lua::kRelease, name.view());
  command.add(to_string(id));
  if (waits_as.empty() && !was_queued && !yields()) {
    scripts.make_joinable(command);
  } else {
    command.add(waits_as);
  }
  if (was_queued || yields()) {
    command.add(was_queued ? member(id) : std::string());
  }
  if (yields()) {
    command.add(microseconds(connection->options().yield_every));
  }
  if (!was_queued) [[likely]] {
    return {.command = std::move(command), .read = release_outcome};
  }
  return {.command = std::move(command), .read = [&queued = queued, name, id](Result<Reply> reply) {
            if (!reply) {  // the release is sent again
              queued.add(name.view(), id, base::boot_clock().now());
            }
            return release_outcome(std::move(reply));
          }};
}

Request<std::optional<store::NameState>> LeaseRequests::look(const Name& name) const {
  Command command = scripts.command(lua::kLook, name.view());
  command.add(watches.waits_as(name.view()));
  return {.command = std::move(command),
          .read = [name](Result<Reply> reply) { return only_state(name, std::move(reply)); }};
}

// If a claim of this store is in the queue already, that claim notifies the store.
store::Watch LeaseRequests::watch(const Name& name, store::WatchCallback callback) {
  return watches.add(
      name.view(), std::move(callback),
      queued.contains(name.view()) ? WatchTable::Joins::no : WatchTable::Joins::the_queue);
}

Request<store::HitOutcome> LeaseRequests::hit(const Name& name, const store::Hit& hit) const {
  Command command = scripts.command(lua::kHit, name.view());
  command.add(hit.limit)
      .add(microseconds(hit.period.unchecked()))
      .add(hit.window == store::Window::sliding ? "sliding" : "fixed")
      .add(hit.count);
  return {.command = std::move(command), .read = hit_outcome};
}

}  // namespace holdfast::engines::redis::internal
