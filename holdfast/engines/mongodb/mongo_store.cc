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
#include <holdfast/store/forget_hits.h>

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

// The number of leases that one command renews: each is an update with its own pipeline.
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

// The parts that the operations need, in the order of need.
class LeaseDocuments {
 public:
  LeaseDocuments(std::unique_ptr<internal::Link> the_link, Time time)
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
  // Returns whether this lease was the last one released.
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

Result<void> LeaseDocuments::meet(Deadline deadline) {
  if (has_met.load(std::memory_order_acquire)) [[likely]] {
    return {};
  }
  HOLDFAST_TRY_LET(const auto greeting, link->greet(deadline));
  requests.set_wire_version(greeting.wire_version);
  has_met.store(true, std::memory_order_release);
  return {};
}

Result<std::optional<Sight>> LeaseDocuments::modify(const Name& name, const Bson& command,
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

Result<LeaseDocuments::Changes> LeaseDocuments::update(const Bson& updates, Deadline deadline) {
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

Result<std::vector<Bson>> LeaseDocuments::look(std::span<const std::string> wanted,
                                               Deadline deadline) {
  Bson list;
  for (const std::string& id : wanted) {
    list.push(id);
  }
  return link->read_batches(
      requests.look(list), [&](std::int64_t cursor) { return requests.get_more(cursor); },
      deadline);
}

Result<std::optional<Sight>> LeaseDocuments::look(const Name& name, Deadline deadline) {
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

Result<bool> LeaseDocuments::was_released_last(const Name& name, const LeaseId& id,
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

Result<void> LeaseDocuments::renew(std::span<const store::Renewal> renewals, Deadline deadline,
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
  // When the time is over, reports the outcomes so far; the rest is tried again.
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

Result<RenewOutcome> LeaseDocuments::renew_one(const store::Renewal& renewal, Deadline deadline) {
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

class MongoStore final : public store::LeaseStore {
 public:
  explicit MongoStore(std::unique_ptr<LeaseDocuments> documents)
      : documents_(std::move(documents)) {}

  ~MongoStore() override {
    if (!documents_->link->check_process()) {
      // The threads that use it are not there, and may have been in the middle of something.
      static_cast<void>(documents_.release());
    }
  }

  [[nodiscard]] store::Capabilities capabilities() const override {
    return {.engine = "mongodb",
            .durable = true,
            .push = true,
            .cross_process = true,
            .cross_machine = true};
  }

  [[nodiscard]] store::LeaseDefaults lease_defaults() const override {
    const MongoOptions& options = documents_->link->options();
    const bool has_cadence = options.extension_cadence > base::Duration::zero();
    return {.ttl = options.expiry,
            .renew_every = has_cadence ? std::optional(options.extension_cadence) : std::nullopt};
  }

 private:
  Result<store::ClaimOutcome> do_claim(const Name& name, const store::Claim& claim,
                                       Deadline deadline) override;
  Result<std::vector<RenewOutcome>> do_renew(std::span<const store::Renewal> renewals,
                                             Deadline deadline) override;
  Result<store::TransferOutcome> do_transfer(const Name& name, const LeaseId& from,
                                             const store::Claim& to, Deadline deadline) override;
  Result<store::ReleaseOutcome> do_release(const Name& name, const LeaseId& id,
                                           Deadline deadline) override;
  Result<std::optional<store::NameState>> do_look(const Name& name, Deadline deadline) override {
    HOLDFAST_TRY_LET(const auto sight, documents_->look(name, deadline));
    return sight ? internal::name_state(name, *sight) : std::nullopt;
  }
  Result<store::Page> do_list(std::string_view prefix, const store::PageRequest& request,
                              Deadline deadline) override {
    return internal::list_names(*documents_->link, documents_->requests, documents_->ids, prefix,
                                request, deadline);
  }
  Result<store::HitOutcome> do_hit(const Name& name, const store::Hit& hit,
                                   Deadline deadline) override;
  Result<store::Watch> do_watch(const Name& name, store::WatchCallback callback) override {
    HOLDFAST_TRY(documents_->link->check_process());
    return documents_->watchers.add(name.view(), std::move(callback));
  }

  std::unique_ptr<LeaseDocuments> documents_;
};

Result<store::ClaimOutcome> MongoStore::do_claim(const Name& name, const store::Claim& claim,
                                                 Deadline deadline) {
  if (auto met = documents_->meet(deadline); !met) [[unlikely]] {
    return std::unexpected(std::move(met).error());
  }
  const std::string id = documents_->ids.id_of(name.view());
  auto sight = documents_->modify(name, documents_->requests.claim(id, claim),
                                  internal::Link::Repeat::yes, deadline);
  if (!sight) [[unlikely]] {
    return std::unexpected(std::move(sight).error());
  }
  if (!*sight) {
    return fail(ErrorCode::unknown_outcome, "somebody deleted the document while it was claimed");
  }
  documents_->make_index();
  return internal::claim_outcome(**std::move(sight), claim);
}

Result<std::vector<RenewOutcome>> MongoStore::do_renew(std::span<const store::Renewal> renewals,
                                                       Deadline deadline) {
  std::vector<RenewOutcome> outcomes;
  outcomes.reserve(renewals.size());
  for (auto rest = renewals; !rest.empty();) {
    const auto part = rest.first(std::min(kBatch, rest.size()));
    rest = rest.subspan(part.size());
    HOLDFAST_TRY(documents_->renew(part, deadline, outcomes));
  }
  return outcomes;
}

Result<store::TransferOutcome> MongoStore::do_transfer(const Name& name, const LeaseId& from,
                                                       const store::Claim& to, Deadline deadline) {
  if (auto met = documents_->meet(deadline); !met) [[unlikely]] {
    return std::unexpected(std::move(met).error());
  }
  const std::string id = documents_->ids.id_of(name.view());
  HOLDFAST_TRY_LET(auto sight, documents_->modify(name, documents_->requests.transfer(id, from, to),
                                                  internal::Link::Repeat::yes, deadline));
  if (!sight) {
    return store::Lost{};
  }
  return internal::transfer_outcome(*std::move(sight), from, to);
}

Result<store::ReleaseOutcome> MongoStore::do_release(const Name& name, const LeaseId& id,
                                                     Deadline deadline) {
  const std::string document_id = documents_->ids.id_of(name.view());
  Bson release;
  documents_->requests.add_release(release, document_id, id);
  const auto released = documents_->update(release, deadline);
  if (!released) [[unlikely]] {
    return std::unexpected(released.error());
  }
  if (!released->failure.empty()) {
    return fail(ErrorCode::corrupt, "the record cannot be changed: " + released->failure);
  }
  bool was_held = released->count == 1;
  if (!was_held && released->is_repeated) {
    const auto was = documents_->was_released_last(name, id, deadline);
    if (!was) {
      return fail(ErrorCode::unknown_outcome, was.error().message);
    }
    was_held = *was;
  }
  if (!was_held) {
    Bson unwait;
    documents_->requests.add_unwait(unwait, document_id, id);
    HOLDFAST_TRY(documents_->update(unwait, deadline));
  }
  documents_->watchers.released(name.view());
  return was_held ? store::ReleaseOutcome::released : store::ReleaseOutcome::not_held;
}

Result<store::HitOutcome> MongoStore::do_hit(const Name& name, const store::Hit& hit,
                                             Deadline deadline) {
  if (hit.count == 0 && !store::forgets(hit)) {
    HOLDFAST_TRY_LET(auto sight, documents_->look(name, deadline));
    return internal::hit_outcome(std::move(sight), hit);
  }
  HOLDFAST_TRY(documents_->meet(deadline));
  if (!documents_->requests.answers_have_time()) {
    return fail(ErrorCode::unsupported, "to count hits, the server must be MongoDB 4.4 or later");
  }
  const Bson command = documents_->requests.hit(documents_->ids.id_of(name.view()), hit);
  HOLDFAST_TRY_LET(auto before,
                   documents_->modify(name, command, internal::Link::Repeat::no, deadline));
  documents_->make_index();
  return internal::hit_outcome(std::move(before), hit);
}
}  // namespace

Result<std::unique_ptr<store::LeaseStore>> open_store(MongoOptions options, Time time) {
  HOLDFAST_TRY(internal::check_options(options));
  HOLDFAST_TRY_LET(auto link, internal::Link::open(std::move(options)));
  return std::make_unique<MongoStore>(
      std::make_unique<LeaseDocuments>(std::move(link), std::move(time)));
}

}  // namespace holdfast::engines::mongodb
