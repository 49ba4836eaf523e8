#include <holdfast/engines/mongodb/internal/requests.h>

#include <algorithm>
#include <initializer_list>

#include <holdfast/engines/mongodb/internal/index_maker.h>
#include <holdfast/engines/mongodb/internal/pipelines.h>
#include <holdfast/engines/mongodb/internal/record_codec.h>
#include <holdfast/store/forget_hits.h>

namespace holdfast::engines::mongodb::internal {

namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kWireOf44 = 9;

constexpr std::initializer_list<const char*> kFields = {
    "lockId", "expiresAt", "acquiredAt", "fencingToken", "capacity",
    "leases", "waits",     "window",     "log",          "freed"};

Bson joined(std::initializer_list<std::string_view> parts) {
  Bson pipeline;
  for (const std::string_view part : parts) {
    pipeline.push_all(Bson::parse(part));
  }
  return pipeline;
}

// Returns the stages after the one with the request. pipelines/README.md says how they fit
// together.
const Bson& claim_pipeline() {
  static const Bson kPipeline =
      joined({pipelines::kRecord, pipelines::kClaim, pipelines::kGrant, pipelines::kStore});
  return kPipeline;
}
const Bson& transfer_pipeline() {
  static const Bson kPipeline =
      joined({pipelines::kRecord, pipelines::kTransfer, pipelines::kGrant, pipelines::kStore});
  return kPipeline;
}
const Bson& renew_pipeline() {
  static const Bson kPipeline = joined({pipelines::kRecord, pipelines::kRenew, pipelines::kStore});
  return kPipeline;
}
const Bson& release_pipeline() {
  static const Bson kPipeline =
      joined({pipelines::kRecord, pipelines::kRelease, pipelines::kStore});
  return kPipeline;
}

const Bson& unwait_pipeline() {
  static const Bson kPipeline = joined({pipelines::kRecord, pipelines::kUnwait, pipelines::kStore});
  return kPipeline;
}
const Bson& hit_pipeline() {
  static const Bson kPipeline = joined({pipelines::kRecord, pipelines::kHit, pipelines::kStore});
  return kPipeline;
}

std::int64_t whole_milliseconds(base::Duration time) {
  return std::chrono::ceil<milliseconds>(time).count();
}

}  // namespace

Requests::Requests(const MongoOptions& options, Time time)
    : collection_(options.collection),
      write_concern_(options),
      retention_(options.retention),
      time_(std::move(time)) {}

void Requests::set_wire_version(std::int64_t version) noexcept {
  answers_have_time_ = version >= kWireOf44;
}

Requests::Moment Requests::moment() const {
  return time_ ? Moment(Date{time_().count()}) : std::nullopt;
}

void Requests::add_now(Bson& into, std::string_view key, Moment moment) {
  if (!moment) {
    into.add(key, "$$NOW");
    return;
  }
  Bson literal;
  literal.add("$literal", *moment);
  into.add(key, literal);
}

Bson Requests::begin(const base::LeaseId& lease, Moment moment) {
  Bson request;
  add_now(request, "now", moment);
  request.add_literal("id", to_string(lease)).add_literal("prefix", lock_id_prefix(lease));
  return request;
}

// A document may have other fields, of any size: they stay where they are.
Bson Requests::fields_and_time(Moment moment) {
  Bson fields;
  for (const char* const field : kFields) {
    fields.add(field, 1);
  }
  add_now(fields, "now", moment);
  return fields;
}

void Requests::add_claim(Bson& request, const store::Claim& claim) const {
  request.add_literal("lockId", lock_id(claim.id, claim.owner, claim.reason))
      .add("ttl", whole_milliseconds(claim.ttl.unchecked()))
      .add("permits", static_cast<std::int64_t>(claim.permits.count))
      .add("capacity", static_cast<std::int64_t>(claim.permits.capacity));
}

Bson Requests::claim(std::string_view id, const store::Claim& claim) const {
  const Moment now = moment();
  Bson request = begin(claim.id, now);
  add_claim(request, claim);
  request.add("holdsBack", whole_milliseconds(claim.holds_back))
      .add("maxWaiting", static_cast<std::int64_t>(store::Claim::kMaxWaiting));
  Bson command = find_and_modify(id, request, claim_pipeline(), Shows::after, now);
  command.add("upsert", true);
  return command;
}

Bson Requests::transfer(std::string_view id, const base::LeaseId& from,
                        const store::Claim& to) const {
  const Moment now = moment();
  Bson request = begin(to.id, now);
  add_claim(request, to);
  request.add_literal("fromPrefix", lock_id_prefix(from));
  return find_and_modify(id, request, transfer_pipeline(), Shows::after, now);
}

Bson Requests::hit(std::string_view id, const store::Hit& hit) const {
  const auto period = std::chrono::ceil<std::chrono::microseconds>(hit.period.unchecked());
  // The same as in store/hit_rules.cc.
  const std::int64_t slack =
      hit.limit <= store::Hit::kSteps
          ? 0
          : std::chrono::duration_cast<std::chrono::microseconds>(hit.period.unchecked()).count() /
                store::Hit::kSteps;
  constexpr std::int64_t kLongestLog = std::int64_t{4} * store::Hit::kSteps;
  const Moment now = moment();
  Bson request = begin(base::LeaseId(), now);
  request.add("isSliding", hit.window == store::Window::sliding)
      .add("period", static_cast<std::int64_t>(period.count()))
      .add("slack", slack)
      .add("limit", static_cast<std::int64_t>(hit.limit))
      .add("count", static_cast<std::int64_t>(hit.count))
      .add("longestLog", kLongestLog);
  Bson command = find_and_modify(id, request, hit_pipeline(), Shows::before, now);
  if (!store::forgets(hit)) {
    command.add("upsert", true);
  }
  return command;
}

Bson Requests::renewal_of(const store::Renewal& renewal, Moment moment) {
  Bson request = begin(renewal.id, moment);
  request.add("ttl", whole_milliseconds(renewal.ttl.unchecked()));
  return request;
}

Bson Requests::renew(std::string_view id, const store::Renewal& renewal) const {
  const Moment now = moment();
  return find_and_modify(id, renewal_of(renewal, now), renew_pipeline(), Shows::after, now);
}

void Requests::add_renewal(Bson& updates, std::string_view id,
                           const store::Renewal& renewal) const {
  add_update(updates, id, renewal_of(renewal, moment()), renew_pipeline());
}

void Requests::add_release(Bson& updates, std::string_view id, const base::LeaseId& lease) const {
  add_update(updates, id, begin(lease, moment()), release_pipeline());
}

void Requests::add_unwait(Bson& updates, std::string_view id, const base::LeaseId& lease) const {
  add_update(updates, id, begin(lease, moment()), unwait_pipeline());
}

namespace {

// The request in a field of its own, and then what is to be done with it.
Bson with_request(const Bson& request, const Bson& pipeline) {
  Bson field;
  field.add("_holdfast", request);
  Bson stage;
  stage.add("$set", field);
  Bson whole;
  whole.push(stage).push_all(pipeline);
  return whole;
}

Bson by_id(std::string_view id) {
  Bson query;
  query.add("_id", id);
  return query;
}

}  // namespace

Bson Requests::find_and_modify(std::string_view id, const Bson& request, const Bson& pipeline,
                               Shows shows, Moment moment) const {
  Bson command;
  command.add("findAndModify", collection_)
      .add("query", by_id(id))
      .add_array("update", with_request(request, pipeline))
      .add("new", shows == Shows::after);
  if (answers_have_time()) {
    command.add("fields", fields_and_time(moment));
  }
  write_concern_.add_to(command);
  return command;
}

void Requests::add_update(Bson& updates, std::string_view id, const Bson& request,
                          const Bson& pipeline) const {
  Bson change;
  change.add("q", by_id(id)).add_array("u", with_request(request, pipeline));
  updates.push(change);
}

Bson Requests::update(const Bson& updates) const {
  Bson command;
  command.add("update", collection_).add_array("updates", updates).add("ordered", false);
  write_concern_.add_to(command);
  return command;
}

Bson Requests::aggregate(const Bson& stages, std::int64_t batch, Moment moment) const {
  Bson last;
  last.add("$project", fields_and_time(moment));
  Bson pipeline;
  pipeline.push_all(stages).push(last);
  Bson cursor;
  cursor.add("batchSize", batch);
  Bson command;
  command.add("aggregate", collection_).add_array("pipeline", pipeline).add("cursor", cursor);
  return command;
}

Bson Requests::look(const Bson& ids) const {
  Bson in;
  in.add_array("$in", ids);
  Bson match;
  match.add("_id", in);
  Bson stage;
  stage.add("$match", match);
  Bson stages;
  stages.push(stage);
  constexpr std::int64_t kAll = 1000;
  return aggregate(stages, kAll, moment());
}

Bson Requests::list(const Bson& match, std::int64_t limit) const {
  Bson operands;
  Bson later;
  operands.push("$expiresAt");
  const Moment now = moment();
  add_now(operands, "1", now);
  later.add_array("$gt", operands);
  Bson in_use;
  in_use.add("$expr", later);
  Bson both;
  both.push(match).push(in_use);
  Bson all;
  all.add_array("$and", both);
  Bson match_stage;
  match_stage.add("$match", all);
  Bson order;
  order.add("_id", 1);
  Bson sort_stage;
  sort_stage.add("$sort", order);
  Bson limit_stage;
  limit_stage.add("$limit", limit);
  Bson stages;
  stages.push(match_stage).push(sort_stage).push(limit_stage);
  return aggregate(stages, limit, now);
}

Bson Requests::watch() const {
  Bson command;
  Bson cursor;
  command.add("aggregate", collection_)
      .add_array("pipeline", Bson::parse(pipelines::kWatch))
      .add("cursor", cursor);
  return command;
}

Bson Requests::get_more(std::int64_t cursor) const {
  Bson command;
  command.add("getMore", cursor).add("collection", collection_);
  return command;
}

Bson Requests::next_changes(std::int64_t cursor, milliseconds wait) const {
  Bson command = get_more(cursor);
  command.add("maxTimeMS", static_cast<std::int64_t>(wait.count()));
  return command;
}

Bson Requests::create_index() const {
  return create_ttl_index(collection_, "expiresAt", retention_);
}

Bson Requests::list_indexes() const {
  Bson command;
  command.add("listIndexes", collection_);
  return command;
}

}  // namespace holdfast::engines::mongodb::internal
