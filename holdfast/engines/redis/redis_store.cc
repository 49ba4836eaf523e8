#include <holdfast/engines/redis/redis_store.h>

#include <algorithm>
#include <utility>

#include <holdfast/engines/redis/internal/answers.h>
#include <holdfast/engines/redis/internal/check_options.h>
#include <holdfast/engines/redis/internal/engine.h>
#include <holdfast/engines/redis/internal/link/pending.h>
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

// A listing looks at no fewer names in one go, if there are so many.
constexpr std::size_t kLookedAt = 64;

// Where the names of one request are kept, and in which slots of a cluster.
struct ManyKeys {
  std::vector<Keys> keys;
  std::vector<std::uint16_t> slots;

  void add(Keys of_name) {
    slots.push_back(internal::slot_of(of_name.plain));
    keys.push_back(std::move(of_name));
  }
};

// Returns one reply for each name.
Result<std::vector<Reply>> look_at(const internal::Engine& engine, std::span<const Name> names,
                                   Deadline deadline) {
  ManyKeys many;
  for (const Name& name : names) {
    many.add(engine.keys.keys_of(name.view()));
  }
  auto parts = engine.scripts.run_for_many(
      lua::kLook, many.slots,
      [&](const internal::Batch& batch, Command& command) {
        command.add(batch.size() * 3);
        for (const std::size_t i : batch) {
          const Keys& keys = many.keys[i];
          command.add(keys.plain).add(keys.companion).add(keys.queue);
        }
        engine.scripts.add_common(command);
        command.add("").add("listing");
      },
      deadline);
  std::vector<Reply> states(names.size());
  for (auto& [batch, reply] : parts) {
    if (!reply) {
      return std::unexpected(std::move(reply).error());
    }
    std::vector<Reply> found = reply->take_elements();
    if (found.size() != batch.size()) {
      return internal::unexpected_answer();
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      states[batch[i]] = std::move(found[i]);
    }
  }
  return states;
}

// Adds those of the next names that are held. `page.next` says that it is full, and that there are
// more.
Result<void> show_more(const internal::Engine& engine, store::Listing& listing, std::size_t limit,
                       Deadline deadline, store::Page& page) {
  const auto rest = std::span(listing.names).subspan(listing.shown);
  const std::size_t wanted = limit + 1 - page.names.size();
  const auto part = rest.first(std::min(std::max(wanted, kLookedAt), rest.size()));
  auto states = look_at(engine, part, deadline);
  if (!states) {
    return std::unexpected(std::move(states).error());
  }
  for (std::size_t i = 0; i < part.size(); ++i, ++listing.shown) {
    auto state = internal::name_state(part[i], std::move((*states)[i]));
    if (!state || !*state) {
      continue;  // not held, or not ours
    }
    if (page.names.size() == limit) {
      page.next = page.names.back().name.view();
      return {};
    }
    page.names.push_back(**std::move(state));
  }
  return {};
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
  return internal::Engine::end_claim(
      engine_->queued, name, claim, claiming,
      engine_->run(lua::kClaim, name, deadline, [&](Command& command) {
        internal::Engine::add_claim(command, claim, claiming);
      }));
}

Result<std::vector<RenewOutcome>> RedisStore::do_renew(std::span<const store::Renewal> renewals,
                                                       Deadline deadline) {
  ManyKeys many;
  for (const store::Renewal& renewal : renewals) {
    many.add(engine_->keys.keys_of(renewal.name));
  }
  const auto parts = engine_->scripts.run_for_many(
      lua::kRenew, many.slots,
      [&](const internal::Batch& batch, Command& command) {
        command.add(batch.size() * 2);
        for (const std::size_t i : batch) {
          command.add(many.keys[i].plain).add(many.keys[i].companion);
        }
        engine_->scripts.add_common(command);
        for (const std::size_t i : batch) {
          command.add(to_string(renewals[i].id))
              .add(internal::microseconds(renewals[i].ttl.unchecked()));
        }
      },
      deadline, internal::OnSilence::reconnect);
  return internal::renew_outcomes(parts, renewals.size());
}

Result<store::TransferOutcome> RedisStore::do_transfer(const Name& name, const LeaseId& from,
                                                       const store::Claim& to, Deadline deadline) {
  if (auto ours = engine_->link->check_process(); !ours) {
    return std::unexpected(std::move(ours).error());
  }
  const internal::Engine::Handing handing = engine_->begin_transfer(name, from, to);
  return internal::Engine::end_transfer(
      engine_->queued, name, handing,
      engine_->run(lua::kTransfer, name, deadline,
                   [&](Command& command) { engine_->add_transfer(command, handing); }));
}

Result<store::ReleaseOutcome> RedisStore::do_release(const Name& name, const LeaseId& id,
                                                     Deadline deadline) {
  if (auto ours = engine_->link->check_process(); !ours) {
    return std::unexpected(std::move(ours).error());
  }
  const std::string member = engine_->take_member(name, id);
  const auto reply = engine_->run(lua::kRelease, name, deadline, [&](Command& command) {
    engine_->add_release(command, id, engine_->watchers.waits_as(name.view()), member);
  });
  if (!reply) [[unlikely]] {
    engine_->return_member(name, id, member);
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
  const base::TimePoint now = base::steady_clock().now();
  auto listing = engine_->listings.take(prefix, request.after, now);
  if (!listing) {
    auto names =
        internal::scan_names(*engine_->link, engine_->keys, prefix, request.after, deadline);
    if (!names) {
      return std::unexpected(std::move(names).error());
    }
    listing = {.prefix = std::string(prefix), .names = *std::move(names)};
  }
  store::Page page;
  while (listing->shown < listing->names.size() && page.next.empty()) {
    if (auto shown = show_more(*engine_, *listing, request.limit, deadline, page); !shown) {
      return std::unexpected(std::move(shown).error());
    }
  }
  if (!page.next.empty()) {
    engine_->listings.keep(*std::move(listing), page.next, now);
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
