#include <holdfast/engines/mongodb/mongo_diagnosis.h>

#include <algorithm>
#include <chrono>

#include <holdfast/base/try.h>
#include <holdfast/engines/mongodb/internal/check_options.h>
#include <holdfast/engines/mongodb/internal/judgement.h>
#include <holdfast/engines/mongodb/internal/link.h>
#include <holdfast/engines/mongodb/internal/requests.h>

namespace holdfast::engines::mongodb {

namespace {

using base::Result;
using internal::Bson;
using internal::BsonValue;
using internal::Link;
using std::chrono::milliseconds;

base::Deadline soon(const Link& link) {
  return base::Deadline::after(base::steady_clock(), link.options().reply_timeout);
}

Result<Finding> ask_version(Link& link, std::int64_t wire_version) {
  Bson command;
  command.add("buildInfo", 1);
  HOLDFAST_TRY_LET(const auto reply, link.read(command, soon(link)));
  const auto version = reply.find("version");
  return internal::judge_version(version ? version->text().value_or("") : "", wire_version);
}

// An error says that there is no such collection yet, or that we may not ask.
Finding ask_index(Link& link, const internal::Requests& requests) {
  std::optional<std::int64_t> seconds;
  const auto batches = link.read_batches(
      requests.list_indexes(), [&](std::int64_t cursor) { return requests.get_more(cursor); },
      soon(link));
  if (!batches) {
    return internal::judge_index(std::nullopt);
  }
  for (const Bson& batch : *batches) {
    internal::for_each_document(batch, [&](const BsonValue& index) {
      const auto key = index.find("key");
      const auto after = index.find("expireAfterSeconds");
      if (key && key->find("expiresAt") && after && after->number()) {
        seconds = static_cast<std::int64_t>(*after->number());
      }
    });
  }
  return internal::judge_index(seconds);
}

milliseconds wall_clock() {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

Result<Finding> ask_clock(const Link& link) {
  HOLDFAST_TRY_LET(const auto client, internal::Client::make(link.address()));
  const milliseconds before = wall_clock();
  const auto greeting = client->greet(soon(link));
  const milliseconds after = wall_clock();
  if (!greeting) {
    return base::fail(base::ErrorCode::unavailable, greeting.error().message);
  }
  return store::judge_clock(milliseconds(greeting->local_time.milliseconds) - (before + after) / 2);
}

}  // namespace

Result<std::vector<Finding>> diagnose(const MongoOptions& options) {
  HOLDFAST_TRY(internal::check_options(options));
  HOLDFAST_TRY_LET(const auto link, Link::open(options));
  HOLDFAST_TRY_LET(const auto greeting, link->greet(soon(*link)));
  HOLDFAST_TRY_LET(auto version, ask_version(*link, greeting.wire_version));
  HOLDFAST_TRY_LET(auto clock, ask_clock(*link));
  const internal::Requests requests(options, {});
  return std::vector<Finding>{std::move(version), internal::judge_topology(greeting),
                              internal::judge_write_concern(options.write_concern),
                              ask_index(*link, requests), std::move(clock)};
}

}  // namespace holdfast::engines::mongodb
