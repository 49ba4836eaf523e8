#include <holdfast/engines/mongodb/mongo_store.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/mongodb/internal/answers.h>
#include <holdfast/engines/mongodb/internal/check_options.h>
#include <holdfast/engines/mongodb/internal/id_space.h>
#include <holdfast/engines/mongodb/internal/index_maker.h>
#include <holdfast/engines/mongodb/internal/link.h>
#include <holdfast/engines/mongodb/internal/name_list.h>
#include <holdfast/engines/mongodb/internal/record_codec.h>
#include <holdfast/engines/mongodb/internal/requests.h>
#include <holdfast/engines/mongodb/internal/watchers.h>

namespace holdfast::engines::mongodb {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::LeaseId;
using base::Name;
using base::Result;
using internal::Bson;
using internal::BsonValue;
using internal::Sight;
using store::RenewOutcome;

// How many leases one command renews: each is an update of its own, with its own pipeline.
constexpr std::size_t kBatch = 128;

// Returns whether the server has done a findAndModify before, and answers with the document that it
// has kept since, whatever `fields` says. Before 5.0 only the missing time tells.
bool is_of_a_repetition(const Bson& reply, bool has_time) {
  if (reply.find("retriedStmtId")) {
    return true;
  }
  const auto value = reply.find("value");
  return has_time && value && !value->is_null() && !value->find("now");
}

// Empty if there is none.
std::string first_write_error(const Bson& reply) {
  const auto errors = reply.find("writeErrors");
  const auto first = errors ? errors->find("0") : std::nullopt;
  if (!first) {
    return "";
  }
  const auto message = first->find("errmsg");
  return base::printable(message ? message->text().value_or("no reason given") : "no reason given");
}

}  // namespace

// What the operations need, in the order in which it is needed.
class MongoStore::Engine {
 public:
  Engine(std::unique_ptr<internal::Link> the_link, Time time)
      : link(std::move(the_link)),
        ids(link->options().prefix),
        requests(link->options(), std::move(time)),
        index_maker(*link, requests.create_index()),
        watchers(*link, requests, ids) {}

  // Knows, from the first time on, what the server understands.
  Result<void> meet(Deadline deadline);
  // The document that a findAndModify shows, and the time; nothing if there is none. What was done
  // already is sent again, unless `repeat` forbids it: ErrorCode::unknown_outcome.
  Result<std::optional<Sight>> modify(const Name& name, const Bson& command,
                                      internal::Link::Repeat repeat, Deadline deadline);
  // Runs a batch of updates, and says how many documents it changed, whether it was repeated, and
  // why the server could not do one of them; empty if it did them all.
  struct Changes {
    std::int64_t count = 0;
    bool is_repeated = false;
    std::string failure{};
  };
  Result<Changes> update(const Bson& updates, Deadline deadline);
  // The documents of names, by their _ids.
  Result<std::vector<Bson>> look(std::span<const std::string> wanted, Deadline deadline);
  Result<std::optional<Sight>> look(const Name& name, Deadline deadline);
  // Whether the last release of the name was of this lease.
  Result<bool> was_released_last(const Name& name, const LeaseId& id, Deadline deadline);
  // Appends one outcome for each.
  Result<void> renew(std::span<const store::Renewal> renewals, Deadline deadline,
                     std::vector<RenewOutcome>& outcomes);
  // One by itself. A record that the server cannot evaluate fails its own lease.
  Result<RenewOutcome> renew_one(const store::Renewal& renewal, Deadline deadline);

  // Not if leases are judged by another clock than the index.
  void make_index() {
    if (requests.follows_server_clock()) {
      index_maker.start();
    }
  }

  const std::unique_ptr<internal::Link> link;
  const internal::IdSpace ids;
  internal::Requests requests;
  internal::IndexMaker index_maker;
  internal::Watchers watchers;
  std::atomic<bool> has_met = false;
};

Result<void> MongoStore::Engine::meet(Deadline deadline) {
  if (has_met.load(std::memory_order_acquire)) [[likely]] {
    return {};
  }
  HOLDFAST_TRY_LET(const auto greeting, link->greet(deadline));
  requests.set_wire_version(greeting.wire_version);
  has_met.store(true, std::memory_order_release);
  return {};
}

Result<std::optional<Sight>> MongoStore::Engine::modify(const Name& name, const Bson& command,
                                                        internal::Link::Repeat repeat,
                                                        Deadline deadline) {
  auto answer = link->write(command, repeat, deadline);
  if (answer && is_of_a_repetition(answer->reply, requests.answers_have_time())) {
    if (repeat == internal::Link::Repeat::no) {
      return fail(ErrorCode::unknown_outcome,
                  "the server has done the request, but its first answer was lost");
    }
    answer = link->write(command, repeat, deadline);
  }
  if (!answer) {
    return std::unexpected(answer.error());
  }
  const auto value = answer->reply.find("value");
  if (!value) {
    return fail(ErrorCode::corrupt, "the server's answer to findAndModify has no value");
  }
  if (value->is_null()) {
    return std::nullopt;
  }
  if (!requests.answers_have_time()) {
    return look(name, deadline);
  }
  return internal::sight_of(*value);
}

Result<MongoStore::Engine::Changes> MongoStore::Engine::update(const Bson& updates,
                                                               Deadline deadline) {
  const auto answer = link->write(requests.update(updates), internal::Link::Repeat::yes, deadline);
  if (!answer) [[unlikely]] {
    return std::unexpected(answer.error());
  }
  const auto changed = answer->reply.find("nModified");
  if (!changed || !changed->integer()) {
    return fail(ErrorCode::corrupt, "the server does not say how many documents it has changed");
  }
  return Changes{.count = *changed->integer(),
                 .is_repeated = answer->is_repeated,
                 .failure = first_write_error(answer->reply)};
}

Result<std::vector<Bson>> MongoStore::Engine::look(std::span<const std::string> wanted,
                                                   Deadline deadline) {
  Bson list;
  for (const std::string& id : wanted) {
    list.push(id);
  }
  return link->read_batches(
      requests.look(list), [&](std::int64_t cursor) { return requests.get_more(cursor); },
      deadline);
}

Result<std::optional<Sight>> MongoStore::Engine::look(const Name& name, Deadline deadline) {
  const std::string id = ids.id_of(name.view());
  HOLDFAST_TRY_LET(const auto batches, look({&id, 1}, deadline));
  Result<std::optional<Sight>> seen;
  for (const Bson& batch : batches) {
    internal::for_each_document(batch, [&](const BsonValue& document) {
      auto sight = internal::sight_of(document);
      if (sight) {
        seen = *std::move(sight);
      } else {
        seen = std::unexpected(std::move(sight).error());
      }
    });
  }
  return seen;
}

Result<bool> MongoStore::Engine::was_released_last(const Name& name, const LeaseId& id,
                                                   Deadline deadline) {
  const std::string document_id = ids.id_of(name.view());
  HOLDFAST_TRY_LET(const auto batches, look({&document_id, 1}, deadline));
  bool was = false;
  for (const Bson& batch : batches) {
    internal::for_each_document(
        batch, [&](const BsonValue& document) { was = internal::was_released_last(document, id); });
  }
  return was;
}

Result<void> MongoStore::Engine::renew(std::span<const store::Renewal> renewals, Deadline deadline,
                                       std::vector<RenewOutcome>& outcomes) {
  HOLDFAST_TRY(meet(deadline));
  Bson updates;
  for (const store::Renewal& renewal : renewals) {
    requests.add_renewal(updates, ids.id_of(renewal.name), renewal);
  }
  HOLDFAST_TRY_LET(const auto changes, update(updates, deadline));
  if (changes.count == static_cast<std::int64_t>(renewals.size())) {
    outcomes.insert(outcomes.end(), renewals.size(), RenewOutcome::renewed);
    return {};
  }
  // Some are lost, cannot be read, or would have been shortened; the server does not say which. A
  // read could be answered by a primary that has been replaced, so each is written again.
  // Where the time ends on the way, what is known by then is reported, and the rest is tried again.
  const std::size_t all = outcomes.size() + renewals.size();
  for (const store::Renewal& renewal : renewals) {
    const auto outcome = renew_one(renewal, deadline);
    if (!outcome && outcomes.size() + renewals.size() == all) {
      return std::unexpected(outcome.error());
    }
    if (!outcome) {
      break;
    }
    outcomes.push_back(*outcome);
  }
  outcomes.resize(all, RenewOutcome::failed);
  return {};
}

Result<RenewOutcome> MongoStore::Engine::renew_one(const store::Renewal& renewal,
                                                   Deadline deadline) {
  const auto sight =
      modify(*Name::make(renewal.name), requests.renew(ids.id_of(renewal.name), renewal),
             internal::Link::Repeat::yes, deadline);
  if (sight) {
    const bool is_held = *sight && internal::holds(**sight, renewal.id);
    return is_held ? RenewOutcome::renewed : RenewOutcome::lost;
  }
  switch (sight.error().code) {
    case ErrorCode::unavailable:
    case ErrorCode::unknown_outcome:
    case ErrorCode::unsupported: return std::unexpected(sight.error());
    case ErrorCode::conflict: return RenewOutcome::lost;  // there is a document that is not a lock
    default: return RenewOutcome::failed;
  }
}

Result<std::unique_ptr<MongoStore>> MongoStore::open(MongoOptions options, Time time) {
  HOLDFAST_TRY(internal::check_options(options));
  HOLDFAST_TRY_LET(auto link, internal::Link::open(std::move(options)));
  return std::unique_ptr<MongoStore>(
      new MongoStore(std::make_unique<Engine>(std::move(link), std::move(time))));
}

MongoStore::MongoStore(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

MongoStore::~MongoStore() {
  if (!engine_->link->check_process()) {
    // The threads that use it are not there, and may have been in the middle of something.
    static_cast<void>(engine_.release());
  }
}

store::Capabilities MongoStore::capabilities() const {
  return {.engine = "mongodb",
          .durable = true,
          .push = true,
          .cross_process = true,
          .cross_machine = true};
}

store::LeaseDefaults MongoStore::lease_defaults() const {
  const MongoOptions& options = engine_->link->options();
  const bool has_cadence = options.extension_cadence > base::Duration::zero();
  return {.ttl = options.expiry,
          .renew_every = has_cadence ? std::optional(options.extension_cadence) : std::nullopt};
}

Result<store::ClaimOutcome> MongoStore::do_claim(const Name& name, const store::Claim& claim,
                                                 Deadline deadline) {
  if (auto met = engine_->meet(deadline); !met) [[unlikely]] {
    return std::unexpected(std::move(met).error());
  }
  const std::string id = engine_->ids.id_of(name.view());
  auto sight = engine_->modify(name, engine_->requests.claim(id, claim),
                               internal::Link::Repeat::yes, deadline);
  if (!sight) [[unlikely]] {
    return std::unexpected(std::move(sight).error());
  }
  if (!*sight) {
    return fail(ErrorCode::unknown_outcome, "somebody deleted the document while it was claimed");
  }
  engine_->make_index();
  return internal::claim_outcome(**std::move(sight), claim);
}

Result<std::vector<RenewOutcome>> MongoStore::do_renew(std::span<const store::Renewal> renewals,
                                                       Deadline deadline) {
  std::vector<RenewOutcome> outcomes;
  outcomes.reserve(renewals.size());
  for (auto rest = renewals; !rest.empty();) {
    const auto part = rest.first(std::min(kBatch, rest.size()));
    rest = rest.subspan(part.size());
    HOLDFAST_TRY(engine_->renew(part, deadline, outcomes));
  }
  return outcomes;
}

Result<store::TransferOutcome> MongoStore::do_transfer(const Name& name, const LeaseId& from,
                                                       const store::Claim& to, Deadline deadline) {
  if (auto met = engine_->meet(deadline); !met) [[unlikely]] {
    return std::unexpected(std::move(met).error());
  }
  const std::string id = engine_->ids.id_of(name.view());
  HOLDFAST_TRY_LET(auto sight, engine_->modify(name, engine_->requests.transfer(id, from, to),
                                               internal::Link::Repeat::yes, deadline));
  if (!sight) {
    return store::Lost{};
  }
  return internal::transfer_outcome(*std::move(sight), from, to);
}

Result<store::ReleaseOutcome> MongoStore::do_release(const Name& name, const LeaseId& id,
                                                     Deadline deadline) {
  const std::string document_id = engine_->ids.id_of(name.view());
  Bson release;
  engine_->requests.add_release(release, document_id, id);
  const auto released = engine_->update(release, deadline);
  if (!released) [[unlikely]] {
    return std::unexpected(released.error());
  }
  if (!released->failure.empty()) {
    return fail(ErrorCode::corrupt, "the record cannot be changed: " + released->failure);
  }
  bool was_held = released->count == 1;
  if (!was_held && released->is_repeated) {
    const auto was = engine_->was_released_last(name, id, deadline);
    if (!was) {
      return fail(ErrorCode::unknown_outcome, was.error().message);
    }
    was_held = *was;
  }
  if (!was_held) {
    Bson unwait;
    engine_->requests.add_unwait(unwait, document_id, id);
    HOLDFAST_TRY(engine_->update(unwait, deadline));
  }
  engine_->watchers.released(name.view());
  return was_held ? store::ReleaseOutcome::released : store::ReleaseOutcome::not_held;
}

Result<std::optional<store::NameState>> MongoStore::do_look(const Name& name, Deadline deadline) {
  HOLDFAST_TRY_LET(const auto sight, engine_->look(name, deadline));
  return sight ? internal::name_state(name, *sight) : std::nullopt;
}

Result<store::Page> MongoStore::do_list(std::string_view prefix, const store::PageRequest& request,
                                        Deadline deadline) {
  return internal::list_names(*engine_->link, engine_->requests, engine_->ids, prefix, request,
                              deadline);
}

Result<store::HitOutcome> MongoStore::do_hit(const Name& name, const store::Hit& hit,
                                             Deadline deadline) {
  if (hit.count == 0) {
    HOLDFAST_TRY_LET(auto sight, engine_->look(name, deadline));
    return internal::hit_outcome(std::move(sight), hit);
  }
  HOLDFAST_TRY(engine_->meet(deadline));
  if (!engine_->requests.answers_have_time()) {
    return fail(ErrorCode::unsupported, "to count hits, the server must be MongoDB 4.4 or later");
  }
  const Bson command = engine_->requests.hit(engine_->ids.id_of(name.view()), hit);
  HOLDFAST_TRY_LET(auto before,
                   engine_->modify(name, command, internal::Link::Repeat::no, deadline));
  engine_->make_index();
  return internal::hit_outcome(std::move(before), hit);
}

Result<store::Watch> MongoStore::do_watch(const Name& name, store::WatchCallback callback) {
  HOLDFAST_TRY(engine_->link->check_process());
  return engine_->watchers.add(name.view(), std::move(callback));
}

}  // namespace holdfast::engines::mongodb
