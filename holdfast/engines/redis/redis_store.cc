#include <holdfast/engines/redis/redis_store.h>

#include <algorithm>
#include <utility>

#include <holdfast/engines/redis/internal/answers.h>
#include <holdfast/engines/redis/internal/check_options.h>
#include <holdfast/engines/redis/internal/key_space.h>
#include <holdfast/engines/redis/internal/link.h>
#include <holdfast/engines/redis/internal/lua.h>
#include <holdfast/engines/redis/internal/name_scan.h>
#include <holdfast/engines/redis/internal/scripts.h>
#include <holdfast/engines/redis/internal/watchers.h>
#include <holdfast/store/async_lease_store.h>

namespace holdfast::engines::redis {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::LeaseId;
using base::Name;
using base::Result;
using internal::Command;
using internal::Keys;
using internal::Reply;
using internal::words;
using store::RenewOutcome;

namespace lua = internal::lua;

// How many leases one script renews, and how many names it looks at: long enough to be cheap, short
// enough not to keep others waiting.
constexpr std::size_t kBatch = 128;

constexpr std::size_t batches(std::size_t count) { return (count + kBatch - 1) / kBatch; }

std::int64_t microseconds(base::Duration duration) {
  return std::chrono::ceil<std::chrono::microseconds>(duration).count();
}

// A lease as the scripts keep it.
std::string lease_text(const store::Claim& claim) {
  return words(microseconds(claim.ttl.unchecked()), to_string(claim.id), claim.owner.size(),
               claim.owner)
      .append(claim.reason);
}

std::unexpected<base::Error> unexpected_answer() {
  return fail(ErrorCode::internal, "a script gave an unexpected answer");
}

}  // namespace

// What the operations need, in the order in which it is needed.
class RedisStore::Engine {
 public:
  Engine(std::unique_ptr<internal::Link> the_link, Time time);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Runs a script for one name. `fill` adds its own arguments.
  template <class Fill>
  Result<Reply> run(const internal::Script& script, const Name& name, Deadline deadline,
                    const Fill& fill) const {
    const Keys of_name = keys.keys_of(name.view());
    return scripts.run(
        script,
        [&](Command& command) {
          command.add(3).add(of_name.plain).add(of_name.companion).add(of_name.queue);
          scripts.add_common(command);
          fill(command);
        },
        deadline);
  }

  // Runs it without blocking. `fill` keeps what it needs.
  template <class Fill, class Outcome>
  void submit(const internal::Script& script, const Name& name, Deadline deadline, Fill fill,
              Outcome outcome) const {
    scripts.submit(
        script,
        [this, of_name = keys.keys_of(name.view()), fill = std::move(fill)](Command& command) {
          command.add(3).add(of_name.plain).add(of_name.companion).add(of_name.queue);
          scripts.add_common(command);
          fill(command);
        },
        deadline, std::move(outcome));
  }

  // What each script wants beside the name.
  void add_claim(Command& command, std::string_view name, const store::Claim& claim) const {
    command.add(to_string(claim.id)).add(lease_text(claim));
    const bool is_mutex = claim.permits == store::Permits::mutex();
    if (is_mutex) {
      command.add(internal::Scripts::expiry_of_mutex(claim.ttl.unchecked()).count());
    } else {
      command.add("");
    }
    const std::string_view waits_as = watchers.waits_as(name);
    if (!is_mutex || !waits_as.empty()) {
      command.add(words(claim.permits.count, claim.permits.capacity, microseconds(claim.holds_back),
                        waits_as));
    }
  }
  static void add_transfer(Command& command, const LeaseId& from, const store::Claim& to) {
    command.add(to_string(from)).add(lease_text(to)).add(to.permits.count).add(to.permits.capacity);
  }
  void add_release(Command& command, std::string_view name, const LeaseId& id) const {
    command.add(to_string(id));
    if (const std::string_view waits_as = watchers.waits_as(name); !waits_as.empty()) {
      command.add(waits_as);
    }
  }
  static void add_hit(Command& command, const store::Hit& hit) {
    command.add(hit.limit)
        .add(microseconds(hit.period.unchecked()))
        .add(hit.window == store::Window::sliding ? "sliding" : "fixed")
        .add(hit.count);
  }

  // One reply for each name.
  Result<std::vector<Reply>> look(std::span<const Name> names, std::string_view waits_as,
                                  Deadline deadline) const;

  const std::unique_ptr<internal::Link> link;
  const internal::KeySpace keys;
  const internal::Scripts scripts;
  internal::Watchers watchers;
  const std::unique_ptr<Submitter> submitter;
};

// The operations without blocking, over the same scripts.
class RedisStore::Submitter final : public store::AsyncLeaseStore {
 public:
  explicit Submitter(const Engine& engine) : engine_(engine) {}

 private:
  // An answer that is an error is that for the callback too.
  template <class T, class Read>
  static auto outcome_for(Callback<T> callback, Read read) {
    return [callback = std::move(callback), read = std::move(read)](Result<Reply> reply) {
      callback(reply ? read(*std::move(reply)) : std::unexpected(std::move(reply).error()));
    };
  }

  void start_claim(const Name& name, const store::Claim& claim, Deadline deadline,
                   Callback<store::ClaimOutcome> callback) override {
    engine_.submit(
        lua::kClaim, name, deadline,
        [this, name, claim](Command& command) { engine_.add_claim(command, name.view(), claim); },
        outcome_for(std::move(callback), [ttl = claim.ttl.unchecked()](Reply reply) {
          return internal::claim_outcome(std::move(reply), ttl);
        }));
  }

  void start_transfer(const Name& name, const LeaseId& from, const store::Claim& to,
                      Deadline deadline, Callback<store::TransferOutcome> callback) override {
    engine_.submit(
        lua::kTransfer, name, deadline,
        [from, to](Command& command) { Engine::add_transfer(command, from, to); },
        outcome_for(std::move(callback), internal::transfer_outcome));
  }

  void start_release(const Name& name, const LeaseId& id, Deadline deadline,
                     Callback<store::ReleaseOutcome> callback) override {
    engine_.submit(
        lua::kRelease, name, deadline,
        [this, name, id](Command& command) { engine_.add_release(command, name.view(), id); },
        outcome_for(std::move(callback), internal::release_outcome));
  }

  void start_look(const Name& name, Deadline deadline,
                  Callback<std::optional<store::NameState>> callback) override {
    engine_.submit(
        lua::kLook, name, deadline,
        [this, name](Command& command) { command.add(engine_.watchers.waits_as(name.view())); },
        outcome_for(std::move(callback),
                    [name](Reply reply) -> Result<std::optional<store::NameState>> {
                      std::vector<Reply> states = reply.take_elements();
                      if (states.size() != 1) {
                        return unexpected_answer();
                      }
                      return internal::name_state(name, std::move(states.front()));
                    }));
  }

  void start_hit(const Name& name, const store::Hit& hit, Deadline deadline,
                 Callback<store::HitOutcome> callback) override {
    engine_.submit(
        lua::kHit, name, deadline, [hit](Command& command) { Engine::add_hit(command, hit); },
        outcome_for(std::move(callback), internal::hit_outcome));
  }

  const Engine& engine_;
};

RedisStore::Engine::Engine(std::unique_ptr<internal::Link> the_link, Time time)
    : link(std::move(the_link)),
      keys(link->options().prefix),
      scripts(*link, std::move(time)),
      watchers(link->options(), scripts, keys),
      submitter(std::make_unique<Submitter>(*this)) {}

RedisStore::Engine::~Engine() = default;

Result<std::vector<Reply>> RedisStore::Engine::look(std::span<const Name> names,
                                                    std::string_view waits_as,
                                                    Deadline deadline) const {
  auto reply = scripts.run(
      lua::kLook,
      [&](Command& command) {
        command.add(names.size() * 3);
        for (const Name& name : names) {
          const Keys of_name = keys.keys_of(name.view());
          command.add(of_name.plain).add(of_name.companion).add(of_name.queue);
        }
        scripts.add_common(command);
        command.add(waits_as);
      },
      deadline);
  if (!reply) {
    return std::unexpected(std::move(reply).error());
  }
  std::vector<Reply> states = reply->take_elements();
  if (states.size() != names.size()) {
    return unexpected_answer();
  }
  return states;
}

Result<std::unique_ptr<RedisStore>> RedisStore::open(RedisOptions options, Time time) {
  if (auto valid = internal::check_options(options); !valid) {
    return std::unexpected(std::move(valid).error());
  }
  return std::unique_ptr<RedisStore>(new RedisStore(std::make_unique<Engine>(
      std::make_unique<internal::Link>(std::move(options)), std::move(time))));
}

RedisStore::RedisStore(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
RedisStore::~RedisStore() = default;

store::Capabilities RedisStore::capabilities() const {
  // What survives a restart is up to the server's settings; even the safest may lose a moment.
  return {
      .engine = "redis", .durable = false, .push = true, .cross_process = true, .cluster = true};
}

store::AsyncLeaseStore* RedisStore::async() noexcept { return engine_->submitter.get(); }
store::Listener* RedisStore::listener() noexcept { return &engine_->watchers.listener(); }

Result<store::ClaimOutcome> RedisStore::do_claim(const Name& name, const store::Claim& claim,
                                                 Deadline deadline) {
  if (auto ours = engine_->link->check_process(); !ours) {
    return std::unexpected(std::move(ours).error());
  }
  auto reply = engine_->run(lua::kClaim, name, deadline, [&](Command& command) {
    engine_->add_claim(command, name.view(), claim);
  });
  if (!reply) [[unlikely]] {
    return std::unexpected(std::move(reply).error());
  }
  return internal::claim_outcome(*std::move(reply), claim.ttl.unchecked());
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
      command.add(to_string(renewal.id)).add(microseconds(renewal.ttl.unchecked()));
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
    return unexpected_answer();
  }
  return outcomes;
}

Result<store::TransferOutcome> RedisStore::do_transfer(const Name& name, const LeaseId& from,
                                                       const store::Claim& to, Deadline deadline) {
  auto reply = engine_->run(lua::kTransfer, name, deadline,
                            [&](Command& command) { Engine::add_transfer(command, from, to); });
  if (!reply) {
    return std::unexpected(std::move(reply).error());
  }
  return internal::transfer_outcome(*std::move(reply));
}

Result<store::ReleaseOutcome> RedisStore::do_release(const Name& name, const LeaseId& id,
                                                     Deadline deadline) {
  if (auto ours = engine_->link->check_process(); !ours) {
    return std::unexpected(std::move(ours).error());
  }
  const auto reply = engine_->run(lua::kRelease, name, deadline, [&](Command& command) {
    engine_->add_release(command, name.view(), id);
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
  auto states = engine_->look({&name, 1}, engine_->watchers.waits_as(name.view()), deadline);
  if (!states) {
    return std::unexpected(std::move(states).error());
  }
  return internal::name_state(name, std::move(states->front()));
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
    auto states = engine_->look(part, {}, deadline);
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
                            [&](Command& command) { Engine::add_hit(command, hit); });
  if (!reply) {
    return std::unexpected(std::move(reply).error());
  }
  return internal::hit_outcome(*std::move(reply));
}

Result<store::Watch> RedisStore::do_watch(const Name& name, std::function<void()> callback) {
  if (auto ours = engine_->link->check_process(); !ours) {
    return std::unexpected(std::move(ours).error());
  }
  return engine_->watchers.add(name.view(), std::move(callback));
}

}  // namespace holdfast::engines::redis
