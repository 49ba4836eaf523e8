#include <holdfast/engines/redis/internal/engine.h>

#include <algorithm>
#include <chrono>
#include <variant>

#include <holdfast/engines/redis/internal/answers.h>
#include <holdfast/engines/redis/internal/lua.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::LeaseId;
using base::Name;
using base::Result;

// A lease as the scripts keep it.
std::string lease_text(const store::Claim& claim) {
  return words(microseconds(claim.ttl.unchecked()), to_string(claim.id), claim.owner.size(),
               claim.owner)
      .append(claim.reason);
}

static_assert(QueuedClaims::kForgotten == std::chrono::milliseconds(lua::kQueueMs));

bool is_mutex(const store::Claim& claim) { return claim.permits == store::Permits::mutex(); }

}  // namespace

std::int64_t microseconds(base::Duration duration) {
  return std::chrono::ceil<std::chrono::microseconds>(duration).count();
}

Engine::Engine(RedisOptions options, Scripts::Time time)
    : Engine(std::make_unique<Link>(std::move(options)), std::move(time)) {}

Engine::Engine(std::unique_ptr<Link> new_link, Scripts::Time time)
    : keys(new_link->options().prefix),
      scripts(*new_link, std::move(time)),
      link(std::move(new_link)),
      watchers(link->options(), scripts, keys) {
  link->on_unfit([this] { watchers.reconnect(); });
}

Engine::Claiming Engine::begin_claim(const Name& name, const store::Claim& claim) {
  Claiming claiming;
  claiming.waits_as = watchers.waits_as(name.view());
  if (!is_mutex(claim) || (!claim.waits && queued.is_empty())) [[likely]] {
    return claiming;
  }
  if (claim.waits && !claiming.waits_as.empty()) {
    claiming.is_new = queued.add(name.view(), claim.id, base::boot_clock().now());
  }
  claiming.member = member(name, claim.id);
  return claiming;
}

Result<store::ClaimOutcome> Engine::end_claim(QueuedClaims& queued, const Name& name,
                                              const store::Claim& claim, const Claiming& claiming,
                                              Result<Reply> reply) {
  Result<store::ClaimOutcome> outcome =
      reply ? claim_outcome(*std::move(reply), claim.ttl.unchecked())
            : Result<store::ClaimOutcome>(std::unexpected(std::move(reply).error()));
  if (claiming.member.empty()) [[likely]] {
    return outcome;
  }
  if (!outcome) {
    if (claiming.is_new && outcome.error().code != ErrorCode::unknown_outcome) {
      queued.remove(name.view(), claim.id);  // it never joined the queue
    }
    return outcome;
  }
  if (auto* const busy = std::get_if<store::Busy>(&*outcome)) {
    busy->pending = queued.contains(name.view(), claim.id);
  } else {
    queued.remove(name.view(), claim.id);
  }
  return outcome;
}

std::string Engine::member(const Name& name, const LeaseId& id) const {
  return queued.contains(name.view(), id) ? words(watchers.store_id(), to_string(id))
                                          : std::string();
}

std::string Engine::take_member(const Name& name, const LeaseId& id) {
  return queued.remove(name.view(), id) ? words(watchers.store_id(), to_string(id)) : std::string();
}

void Engine::return_member(const Name& name, const LeaseId& id, std::string_view member) {
  if (!member.empty()) {
    queued.add(name.view(), id, base::boot_clock().now());
  }
}

Engine::Handing Engine::begin_transfer(const Name& name, const LeaseId& from,
                                       const store::Claim& to) const {
  return {
      .from = from, .to = to, .from_member = member(name, from), .to_member = member(name, to.id)};
}

Result<store::TransferOutcome> Engine::end_transfer(QueuedClaims& queued, const Name& name,
                                                    const Handing& handing, Result<Reply> reply) {
  if (!reply) {
    return std::unexpected(std::move(reply).error());
  }
  Result<store::TransferOutcome> outcome = transfer_outcome(*std::move(reply));
  if (!outcome || std::holds_alternative<store::HeldBack>(*outcome)) {
    return outcome;
  }
  queued.remove(name.view(), handing.from);
  if (std::holds_alternative<store::Grant>(*outcome) && !handing.to_member.empty()) {
    queued.remove(name.view(), handing.to.id);
  }
  return outcome;
}

void Engine::add_claim(Command& command, const store::Claim& claim, const Claiming& claiming) {
  command.add(to_string(claim.id)).add(lease_text(claim));
  if (is_mutex(claim)) {
    command.add(Scripts::expiry_of_mutex(claim.ttl.unchecked()).count());
  } else {
    command.add("");
  }
  if (is_mutex(claim) && claiming.waits_as.empty() && claiming.member.empty()) {
    command.make_joinable();
    return;
  }
  command.add(words(claim.permits.count, claim.permits.capacity, microseconds(claim.holds_back),
                    claiming.waits_as));
  if (!claiming.member.empty()) {
    command.add(claiming.member);
  }
}

bool Engine::yields() const noexcept {
  return link->options().yield_every > base::Duration::zero();
}

void Engine::add_transfer(Command& command, const Handing& handing) const {
  const store::Claim& to = handing.to;
  command.add(to_string(handing.from))
      .add(lease_text(to))
      .add(to.permits.count)
      .add(to.permits.capacity);
  // Only where a holder makes room for a waiter.
  const bool may_yield = yields() && to.waits && is_mutex(to);
  if (may_yield || !handing.from_member.empty() || !handing.to_member.empty()) {
    command.add(handing.from_member).add(handing.to_member);
  }
  if (may_yield) {
    command.add(microseconds(link->options().yield_every));
  }
}

void Engine::add_release(Command& command, const LeaseId& id, std::string_view waits_as,
                         std::string_view member) const {
  command.add(to_string(id));
  if (waits_as.empty() && member.empty() && !yields()) {
    command.make_joinable();
    return;
  }
  command.add(waits_as);
  if (!member.empty() || yields()) {
    command.add(member);
  }
  if (yields()) {
    command.add(microseconds(link->options().yield_every));
  }
}

void Engine::add_hit(Command& command, const store::Hit& hit) {
  command.add(hit.limit)
      .add(microseconds(hit.period.unchecked()))
      .add(hit.window == store::Window::sliding ? "sliding" : "fixed")
      .add(hit.count);
}

}  // namespace holdfast::engines::redis::internal
