#include <holdfast/engines/redis/internal/submitter.h>

#include <string>
#include <utility>

#include <holdfast/engines/redis/internal/answers.h>
#include <holdfast/engines/redis/internal/lua.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::Deadline;
using base::LeaseId;
using base::Name;
using base::Result;

// An answer that is an error is that for the callback too.
template <class T, class Read>
auto outcome_for(std::function<void(Result<T>)> callback, Read read) {
  return [callback = std::move(callback), read = std::move(read)](Result<Reply> reply) {
    callback(reply ? read(*std::move(reply)) : std::unexpected(std::move(reply).error()));
  };
}

}  // namespace

template <class T>
bool Submitter::is_refused(const Callback<T>& callback) const {
  auto ours = engine_.link->check_process();
  if (ours) {
    return false;
  }
  callback(std::unexpected(std::move(ours).error()));
  return true;
}

void Submitter::start_claim(const Name& name, const store::Claim& claim, Deadline deadline,
                            Callback<store::ClaimOutcome> callback) {
  if (is_refused(callback)) {
    return;
  }
  const Engine::Claiming claiming = engine_.begin_claim(name, claim);
  engine_.submit(
      lua::kClaim, name, deadline,
      [claim, claiming](Command& command) { Engine::add_claim(command, claim, claiming); },
      [&queued = engine_.queued, name, claim, claiming,
       callback = std::move(callback)](Result<Reply> reply) {
        callback(Engine::end_claim(queued, name, claim, claiming, std::move(reply)));
      });
}

void Submitter::start_transfer(const Name& name, const LeaseId& from, const store::Claim& to,
                               Deadline deadline, Callback<store::TransferOutcome> callback) {
  if (is_refused(callback)) {
    return;
  }
  const Engine::Handing handing = engine_.begin_transfer(name, from, to);
  engine_.submit(
      lua::kTransfer, name, deadline,
      [this, handing](Command& command) { engine_.add_transfer(command, handing); },
      [&queued = engine_.queued, name, handing,
       callback = std::move(callback)](Result<Reply> reply) {
        callback(Engine::end_transfer(queued, name, handing, std::move(reply)));
      });
}

void Submitter::start_release(const Name& name, const LeaseId& id, Deadline deadline,
                              Callback<store::ReleaseOutcome> callback) {
  if (is_refused(callback)) {
    return;
  }
  const std::string member = engine_.take_member(name, id);
  engine_.submit(
      lua::kRelease, name, deadline,
      [this, id, waits_as = std::string(engine_.watchers.waits_as(name.view())),
       member](Command& command) { engine_.add_release(command, id, waits_as, member); },
      [&queued = engine_.queued, name, id, is_queued = !member.empty(),
       callback = std::move(callback)](Result<Reply> reply) {
        if (!reply && is_queued) {
          queued.add(name.view(), id, base::boot_clock().now());  // the release is sent again
        }
        callback(reply ? release_outcome(*reply) : std::unexpected(std::move(reply).error()));
      });
}

void Submitter::start_look(const Name& name, Deadline deadline,
                           Callback<std::optional<store::NameState>> callback) {
  if (is_refused(callback)) {
    return;
  }
  engine_.submit(
      lua::kLook, name, deadline,
      [waits_as = std::string(engine_.watchers.waits_as(name.view()))](Command& command) {
        command.add(waits_as);
      },
      outcome_for(std::move(callback),
                  [name](Reply reply) { return only_state(name, std::move(reply)); }));
}

void Submitter::start_hit(const Name& name, const store::Hit& hit, Deadline deadline,
                          Callback<store::HitOutcome> callback) {
  engine_.submit(
      lua::kHit, name, deadline, [hit](Command& command) { Engine::add_hit(command, hit); },
      outcome_for(std::move(callback), hit_outcome));
}

}  // namespace holdfast::engines::redis::internal
