#include <holdfast/engines/redis/redis_store.h>

#include <algorithm>
#include <utility>

#include <holdfast/engines/redis/internal/answers.h>
#include <holdfast/engines/redis/internal/check_options.h>
#include <holdfast/engines/redis/internal/engine.h>
#include <holdfast/engines/redis/internal/lua.h>
#include <holdfast/engines/redis/internal/name_scan.h>
#include <holdfast/engines/redis/internal/submitter.h>

namespace holdfast::engines::redis {

namespace {

using base::Deadline;
using base::LeaseId;
using base::Name;
using base::Result;
using internal::Command;
using internal::Keys;
using internal::Reply;
using store::RenewOutcome;

namespace lua = internal::lua;

// How many leases one script renews, and how many names it looks at: long enough to be cheap, short
// enough not to keep others waiting.
constexpr std::size_t kBatch = 128;

constexpr std::size_t batches(std::size_t count) { return (count + kBatch - 1) / kBatch; }

// One reply for each name.
Result<std::vector<Reply>> look_at(const internal::Engine& engine, std::span<const Name> names,
                                   Deadline deadline) {
  auto reply = engine.scripts.run(
      lua::kLook,
      [&](Command& command) {
        command.add(names.size() * 3);
        for (const Name& name : names) {
          const Keys of_name = engine.keys.keys_of(name.view());
          command.add(of_name.plain).add(of_name.companion).add(of_name.queue);
        }
        engine.scripts.add_common(command);
        command.add("");
      },
      deadline);
  if (!reply) {
    return std::unexpected(std::move(reply).error());
  }
  std::vector<Reply> states = reply->take_elements();
  if (states.size() != names.size()) {
    return internal::unexpected_answer();
  }
  return states;
}

}  // namespace

Result<std::unique_ptr<RedisStore>> RedisStore::open(RedisOptions options, Time time) {
  if (auto valid = internal::check_options(options); !valid) {
    return std::unexpected(std::move(valid).error());
  }
  return std::unique_ptr<RedisStore>(
      new RedisStore(std::make_unique<internal::Engine>(std::move(options), std::move(time))));
}

RedisStore::RedisStore(std::unique_ptr<internal::Engine> engine)
    : engine_(std::move(engine)), submitter_(std::make_unique<internal::Submitter>(*engine_)) {}

// While all is there that the answers, and those who get them, may use.
RedisStore::~RedisStore() { engine_->link->close(); }

store::Capabilities RedisStore::capabilities() const {
  // What survives a restart is up to the server's settings; even the safest may lose a moment.
  return {
      .engine = "redis", .durable = false, .push = true, .cross_process = true, .cluster = true};
}

store::AsyncLeaseStore* RedisStore::async() noexcept { return submitter_.get(); }
store::Listener* RedisStore::listener() noexcept { return &engine_->watchers.listener(); }

Result<store::ClaimOutcome> RedisStore::do_claim(const Name& name, const store::Claim& claim,
                                                 Deadline deadline) {
  if (auto ours = engine_->link->check_process(); !ours) {
    return std::unexpected(std::move(ours).error());
  }
  const internal::Engine::Claiming claiming = engine_->begin_claim(name, claim);
  if (claiming.given) {
    return *claiming.given;
  }
  return internal::Engine::end_claim(
      engine_->places, name, claim, claiming,
      engine_->run(lua::kClaim, name, deadline, [&](Command& command) {
        internal::Engine::add_claim(command, claim, claiming);
      }));
}

Result<std::vector<RenewOutcome>> RedisStore::do_renew(std::span<const store::Renewal> renewals,
                                                       Deadline deadline) {
  const auto fill = [&](std::size_t batch, Command& command) {
    const auto rest = renewals.subspan(batch * kBatch);
    const auto part = rest.first(std::min(kBatch, rest.size()));
    command.add(part.size() * 2);
    for (const store::Renewal& renewal : part) {
      const Keys keys = engine_->keys.keys_of(renewal.name);
      command.add(keys.plain).add(keys.companion);
    }
    engine_->scripts.add_common(command);
    for (const store::Renewal& renewal : part) {
      command.add(to_string(renewal.id)).add(internal::microseconds(renewal.ttl.unchecked()));
    }
  };
  const auto replies =
      engine_->scripts.run_all(lua::kRenew, batches(renewals.size()), fill, deadline);
  if (!replies) {
    return std::unexpected(replies.error());
  }
  std::vector<RenewOutcome> outcomes;
  outcomes.reserve(renewals.size());
  for (const Reply& reply : *replies) {
    for (const Reply& renewed : reply.elements()) {
      outcomes.push_back(renewed.integer() == 1 ? RenewOutcome::renewed : RenewOutcome::lost);
    }
  }
  if (outcomes.size() != renewals.size()) {
    return internal::unexpected_answer();
  }
  return outcomes;
}

Result<store::TransferOutcome> RedisStore::do_transfer(const Name& name, const LeaseId& from,
                                                       const store::Claim& to, Deadline deadline) {
  if (auto ours = engine_->link->check_process(); !ours) {
    return std::unexpected(std::move(ours).error());
  }
  const internal::Engine::Handing handing = engine_->begin_transfer(name, from, to);
  return internal::Engine::end_transfer(
      engine_->places, name, handing,
      engine_->run(lua::kTransfer, name, deadline,
                   [&](Command& command) { internal::Engine::add_transfer(command, handing); }));
}

Result<store::ReleaseOutcome> RedisStore::do_release(const Name& name, const LeaseId& id,
                                                     Deadline deadline) {
  if (auto ours = engine_->link->check_process(); !ours) {
    return std::unexpected(std::move(ours).error());
  }
  const std::string member = engine_->places.leave(name.view(), id);
  const auto reply = engine_->run(lua::kRelease, name, deadline, [&](Command& command) {
    internal::Engine::add_release(command, id, engine_->watchers.waits_as(name.view()), member);
  });
  if (!reply) [[unlikely]] {
    return std::unexpected(reply.error());
  }
  return internal::release_outcome(*reply);
}

Result<std::optional<store::NameState>> RedisStore::do_look(const Name& name, Deadline deadline) {
  if (auto ours = engine_->link->check_process(); !ours) {
    return std::unexpected(std::move(ours).error());
  }
  auto reply = engine_->run(lua::kLook, name, deadline, [&](Command& command) {
    command.add(engine_->watchers.waits_as(name.view()));
  });
  if (!reply) {
    return std::unexpected(std::move(reply).error());
  }
  return internal::only_state(name, *std::move(reply));
}

Result<store::Page> RedisStore::do_list(std::string_view prefix, const store::PageRequest& request,
                                        Deadline deadline) {
  const auto found =
      internal::scan_names(*engine_->link, engine_->keys, prefix, request.after, deadline);
  if (!found) {
    return std::unexpected(found.error());
  }
  store::Page page;
  for (auto rest = std::span(*found); !rest.empty() && page.next.empty();) {
    const auto part = rest.first(std::min(kBatch, rest.size()));
    rest = rest.subspan(part.size());
    auto states = look_at(*engine_, part, deadline);
    if (!states) {
      return std::unexpected(std::move(states).error());
    }
    for (std::size_t i = 0; i < part.size() && page.next.empty(); ++i) {
      auto state = internal::name_state(part[i], std::move((*states)[i]));
      if (!state || !*state) {
        continue;  // not held, or not ours
      }
      if (page.names.size() == request.limit) {  // one more: there is a next page
        page.next = page.names.back().name.view();
      } else {
        page.names.push_back(**std::move(state));
      }
    }
  }
  return page;
}

Result<store::HitOutcome> RedisStore::do_hit(const Name& name, const store::Hit& hit,
                                             Deadline deadline) {
  auto reply = engine_->run(lua::kHit, name, deadline,
                            [&](Command& command) { internal::Engine::add_hit(command, hit); });
  if (!reply) {
    return std::unexpected(std::move(reply).error());
  }
  return internal::hit_outcome(*std::move(reply));
}

Result<store::Watch> RedisStore::do_watch(const Name& name, store::WatchCallback callback) {
  if (auto ours = engine_->link->check_process(); !ours) {
    return std::unexpected(std::move(ours).error());
  }
  return engine_->watchers.add(name.view(), std::move(callback));
}

}  // namespace holdfast::engines::redis
