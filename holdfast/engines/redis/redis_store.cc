#include <holdfast/engines/redis/redis_store.h>

#include <algorithm>
#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/acknowledged.h>
#include <holdfast/engines/redis/internal/answers.h>
#include <holdfast/engines/redis/internal/check_options.h>
#include <holdfast/engines/redis/internal/held_mutex.h>
#include <holdfast/engines/redis/internal/lease_requests.h>
#include <holdfast/engines/redis/internal/lua.h>
#include <holdfast/engines/redis/internal/name_scan.h>
#include <holdfast/engines/redis/internal/submitter.h>
#include <holdfast/store/listings.h>

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

std::vector<Keys> keys_of(const internal::LeaseRequests& requests, std::span<const Name> names) {
  std::vector<Keys> keys;
  keys.reserve(names.size());
  for (const Name& name : names) {
    keys.push_back(requests.keys.keys_of(name.view()));
  }
  return keys;
}

// Returns one reply for each name.
Result<std::vector<Reply>> look_at(const internal::LeaseRequests& requests,
                                   std::span<const Name> names, Deadline deadline) {
  auto parts = requests.scripts.run(
      {.script = lua::kLook,
       .names = keys_of(requests, names),
       .add_arguments = [](const internal::Batch&,
                           Command& command) { command.add("").add("listing"); }},
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

using States = std::vector<std::optional<store::NameState>>;

// Sets the states of the names that are mutexes and held. Returns the places of the others.
Result<std::vector<std::size_t>> read_mutexes(const internal::LeaseRequests& requests,
                                              std::span<const Name> names, Deadline deadline,
                                              States& states) {
  auto parts = requests.scripts.run({.script = lua::kList,
                                     .names = keys_of(requests, names),
                                     .add_arguments = [](const internal::Batch&, Command&) {}},
                                    deadline);
  std::vector<std::size_t> others;
  for (auto& [batch, reply] : parts) {
    if (!reply) {
      return std::unexpected(std::move(reply).error());
    }
    const std::vector<Reply> answer = reply->take_elements();
    if (answer.size() != 2 || answer[1].elements().size() != batch.size() * 2) {
      return internal::unexpected_answer();
    }
    const auto& texts = answer[1].elements();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      auto& state = states[batch[i]];
      state = internal::held_mutex(names[batch[i]], texts[2 * i].text(), texts[2 * i + 1].text(),
                                   answer[0].integer());
      if (!state) {
        others.push_back(batch[i]);
      }
    }
  }
  return others;
}

// Returns the state of each name; nothing for one that is not held, or not ours to read.
Result<States> states_of(const internal::LeaseRequests& requests, std::span<const Name> names,
                         Deadline deadline) {
  States states(names.size());
  HOLDFAST_TRY_LET(const auto others, read_mutexes(requests, names, deadline, states));
  std::vector<Name> rest;
  for (const std::size_t place : others) {
    rest.push_back(names[place]);
  }
  HOLDFAST_TRY_LET(auto replies, look_at(requests, rest, deadline));
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (auto state = internal::name_state(rest[i], std::move(replies[i]))) {
      states[others[i]] = *std::move(state);
    }
  }
  return states;
}

// Adds those of the next names that are held. `page.next` says that it is full, and that there are
// more.
Result<void> show_more(const internal::LeaseRequests& requests, store::Listing& listing,
                       std::size_t limit, Deadline deadline, store::Page& page) {
  const auto rest = std::span(listing.names).subspan(listing.shown);
  const std::size_t wanted = limit + 1 - page.names.size();
  const auto part = rest.first(std::min(std::max(wanted, kLookedAt), rest.size()));
  HOLDFAST_TRY_LET(auto states, states_of(requests, part, deadline));
  for (std::size_t i = 0; i < part.size(); ++i, ++listing.shown) {
    if (!states[i]) {
      continue;
    }
    if (page.names.size() == limit) {
      page.next = page.names.back().name.view();
      return {};
    }
    page.names.push_back(*std::move(states[i]));
  }
  return {};
}

class RedisStore final : public store::LeaseStore {
 public:
  RedisStore(RedisOptions options, const Time& time)
      : requests_(std::make_unique<internal::LeaseRequests>(std::move(options), time)),
        submitter_(std::make_unique<internal::Submitter>(*requests_)) {}

  ~RedisStore() override {
    if (!requests_->connection->check_process()) {
      // In a forked child: a thread of the parent may have been in the middle of a change.
      static_cast<void>(requests_.release());
      static_cast<void>(listings_.release());
      return;
    }
    // While everything exists that the answers and their receivers use.
    requests_->close();
  }

  [[nodiscard]] store::Capabilities capabilities() const override {
    // The server's settings decide what survives a restart; even the safest may lose a moment.
    return {.engine = "redis",
            .durable = false,
            .push = true,
            .cross_process = true,
            .cross_machine = true,
            .queues_claims = true};
  }

  // Through the same connection; the first request starts a thread that reads the answers.
  [[nodiscard]] store::AsyncLeaseStore* async() noexcept override { return submitter_.get(); }

 private:
  Result<store::ClaimOutcome> do_claim(const Name& name, const store::Claim& claim,
                                       Deadline deadline) override {
    HOLDFAST_TRY(requests_->connection->check_process());
    const auto request = requests_->claim(name, claim);
    auto outcome = request.read(requests_->connection->call(request.command, deadline));
    if (requests_->acknowledger == nullptr) [[likely]] {
      return outcome;
    }
    return internal::acknowledged(*requests_, {name, claim.id, claim.ttl}, std::move(outcome),
                                  deadline);
  }
  Result<std::vector<RenewOutcome>> do_renew(std::span<const store::Renewal> renewals,
                                             Deadline deadline) override;
  Result<store::TransferOutcome> do_transfer(const Name& name, const LeaseId& from,
                                             const store::Claim& to, Deadline deadline) override {
    HOLDFAST_TRY(requests_->connection->check_process());
    const auto request = requests_->transfer(name, from, to);
    auto outcome = request.read(requests_->connection->call(request.command, deadline));
    if (requests_->acknowledger == nullptr) [[likely]] {
      return outcome;
    }
    return internal::acknowledged(*requests_, {name, to.id, to.ttl}, std::move(outcome), deadline);
  }
  Result<store::ReleaseOutcome> do_release(const Name& name, const LeaseId& id,
                                           Deadline deadline) override {
    HOLDFAST_TRY(requests_->connection->check_process());
    const auto request = requests_->release(name, id);
    return request.read(requests_->connection->call(request.command, deadline));
  }
  Result<std::optional<store::NameState>> do_look(const Name& name, Deadline deadline) override {
    HOLDFAST_TRY(requests_->connection->check_process());
    const auto request = requests_->look(name);
    return request.read(requests_->connection->call(request.command, deadline));
  }
  Result<store::Page> do_list(std::string_view prefix, const store::PageRequest& request,
                              Deadline deadline) override;
  Result<store::HitOutcome> do_hit(const Name& name, const store::Hit& hit,
                                   Deadline deadline) override {
    const auto request = requests_->hit(name, hit);
    return request.read(requests_->connection->call(request.command, deadline));
  }
  Result<store::Watch> do_watch(const Name& name, store::WatchCallback callback) override {
    HOLDFAST_TRY(requests_->connection->check_process());
    return requests_->watch(name, std::move(callback));
  }

  std::unique_ptr<internal::LeaseRequests> requests_;
  const std::unique_ptr<store::AsyncLeaseStore> submitter_;
  std::unique_ptr<store::Listings> listings_ = std::make_unique<store::Listings>();
};

Result<std::vector<RenewOutcome>> RedisStore::do_renew(std::span<const store::Renewal> renewals,
                                                       Deadline deadline) {
  std::vector<Keys> names;
  names.reserve(renewals.size());
  for (const store::Renewal& renewal : renewals) {
    names.push_back(requests_->keys.keys_of(renewal.name));
  }
  const auto add_arguments = [&](const internal::Batch& batch, Command& command) {
    for (const std::size_t i : batch) {
      command.add(to_string(renewals[i].id))
          .add(internal::microseconds(renewals[i].ttl.unchecked()));
    }
  };
  const auto parts = requests_->scripts.run(
      {.script = lua::kRenew, .names = std::move(names), .add_arguments = add_arguments}, deadline,
      internal::OnSilence::reconnect);
  return internal::renew_outcomes(parts, renewals.size());
}

Result<store::Page> RedisStore::do_list(std::string_view prefix, const store::PageRequest& request,
                                        Deadline deadline) {
  HOLDFAST_TRY(requests_->connection->check_process());
  const base::TimePoint now = base::steady_clock().now();
  auto listing = listings_->take(prefix, request.after, now);
  if (!listing) {
    HOLDFAST_TRY_LET(auto names, internal::scan_names(*requests_->connection, requests_->keys,
                                                      prefix, request.after, deadline));
    listing = {.prefix = std::string(prefix), .names = std::move(names)};
  }
  store::Page page;
  while (listing->shown < listing->names.size() && page.next.empty()) {
    HOLDFAST_TRY(show_more(*requests_, *listing, request.limit, deadline, page));
  }
  if (!page.next.empty()) {
    listings_->keep(*std::move(listing), page.next, now);
  }
  return page;
}

}  // namespace

Result<std::unique_ptr<store::LeaseStore>> open_store(RedisOptions options, Time time) {
  HOLDFAST_TRY(internal::check_options(options));
  return std::make_unique<RedisStore>(std::move(options), time);
}

}  // namespace holdfast::engines::redis
