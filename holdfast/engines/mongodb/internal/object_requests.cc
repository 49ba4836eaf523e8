#include <holdfast/engines/mongodb/internal/object_requests.h>

#include <cstdint>

#include <holdfast/engines/mongodb/internal/index_maker.h>
#include <holdfast/engines/mongodb/internal/pipelines.h>
#include <holdfast/store/token_text.h>

namespace holdfast::engines::mongodb::internal {

namespace {

using base::FencingToken;
using store::token_text;

Bson joined(std::string_view first, std::string_view second) {
  Bson pipeline = Bson::parse(first);
  pipeline.push_all(Bson::parse(second));
  return pipeline;
}

// Returns the stages after the one with the request.
const Bson& load_pipeline() {
  static const Bson kPipeline = joined(pipelines::kObject, pipelines::kLoad);
  return kPipeline;
}
const Bson& erase_pipeline() {
  static const Bson kPipeline = joined(pipelines::kObject, pipelines::kErase);
  return kPipeline;
}

Bson by_id(std::string_view id) {
  Bson query;
  query.add("_id", id);
  return query;
}

}  // namespace

ObjectRequests::ObjectRequests(const MongoOptions& options)
    : collection_(options.objects), write_concern_(options), retention_(options.retention) {}

Bson ObjectRequests::find_and_modify(std::string_view id, FencingToken token,
                                     const Bson& pipeline) const {
  Bson request;
  request.add_literal("token", token_text(token));
  Bson field;
  field.add("_holdfast", request);
  Bson stage;
  stage.add("$set", field);
  Bson whole;
  whole.push(stage).push_all(pipeline);
  Bson command;
  command.add("findAndModify", collection_)
      .add("query", by_id(id))
      .add_array("update", whole)
      .add("upsert", true);
  write_concern_.add_to(command);
  return command;
}

Bson ObjectRequests::load(std::string_view id, FencingToken token) const {
  Bson command = find_and_modify(id, token, load_pipeline());
  command.add("new", true);
  return command;
}

Bson ObjectRequests::erase(std::string_view id, FencingToken token) const {
  Bson fields;
  fields.add("token", 1).add("unusedSince", 1);
  Bson command = find_and_modify(id, token, erase_pipeline());
  command.add("fields", fields);
  return command;
}

Bson ObjectRequests::erase_unfenced(std::string_view id) const {
  Bson query = by_id(id);
  query.add("token", token_text(FencingToken(0)));
  Bson one;
  one.add("q", query).add("limit", 1);
  Bson all;
  all.push(one);
  Bson command;
  command.add("delete", collection_).add_array("deletes", all);
  write_concern_.add_to(command);
  return command;
}

void ObjectRequests::add_save(Bson& updates, std::string_view id, FencingToken token,
                              std::string_view data) {
  const std::string text = token_text(token);
  Bson at_most;
  at_most.add("$lte", text);
  Bson query = by_id(id);
  query.add("token", at_most);
  Bson literal;
  literal.add_bytes("$literal", data);
  Bson document;
  document.add("_id", "$_id").add_literal("token", text).add("data", literal);
  Bson stage;
  stage.add("$replaceWith", document);
  Bson pipeline;
  pipeline.push(stage);
  Bson update;
  update.add("q", query).add_array("u", pipeline).add("upsert", true);
  updates.push(update);
}

Bson ObjectRequests::save(const Bson& updates) const {
  Bson command;
  command.add("update", collection_).add_array("updates", updates).add("ordered", false);
  write_concern_.add_to(command);
  return command;
}

Bson ObjectRequests::find(const Bson& filter, std::size_t limit) const {
  const auto count = static_cast<std::int64_t>(limit);
  Bson command;
  command.add("find", collection_)
      .add("filter", filter)
      .add("limit", count)
      .add("batchSize", count)
      .add("singleBatch", true);
  return command;
}

Bson ObjectRequests::look(std::string_view id) const { return find(by_id(id), 1); }

Bson ObjectRequests::look_at_tokens(const Bson& ids, std::size_t count) const {
  Bson in;
  in.add_array("$in", ids);
  Bson filter;
  filter.add("_id", in);
  Bson fields;
  fields.add("token", 1);
  Bson command = find(filter, count);
  command.add("projection", fields);
  return command;
}

Bson ObjectRequests::list(From kind, std::string_view from, std::string_view end,
                          std::size_t limit) const {
  Bson range;
  range.add(kind == From::including ? "$gte" : "$gt", from).add("$lt", end);
  Bson exists;
  exists.add("$exists", true);
  Bson filter;
  filter.add("_id", range).add("data", exists);
  Bson only_id;
  only_id.add("_id", 1);
  Bson command = find(filter, limit);
  command.add("projection", only_id).add("sort", only_id);
  return command;
}

Bson ObjectRequests::create_index() const {
  return create_ttl_index(collection_, "unusedSince", retention_);
}

}  // namespace holdfast::engines::mongodb::internal
