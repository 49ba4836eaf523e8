#include <holdfast/engines/mongodb/internal/judgement.h>

#include <string>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/printable.h>

namespace holdfast::engines::mongodb::internal {

namespace {

using store::Finding;
using Level = Finding::Level;

constexpr std::int64_t kWireOf42 = 8;
constexpr std::int64_t kWireOf44 = 9;

}  // namespace

Finding judge_version(std::string_view version, std::int64_t wire_version) {
  const std::string text = "MongoDB " + base::printable(version);
  if (wire_version < kWireOf42) {
    return {"version", Level::bad, text + ": updates by pipelines need 4.2 or later"};
  }
  if (wire_version < kWireOf44) {
    return {"version", Level::warning,
            text + ": before 4.4 a claim takes two round trips, and hits cannot be counted"};
  }
  return {"version", Level::good, text};
}

Finding judge_topology(const Greeting& greeting) {
  if (greeting.is_router) {
    return {"topology", Level::good, "a sharded cluster"};
  }
  if (!greeting.set_name.empty()) {
    return {"topology", Level::good, "the replica set " + base::printable(greeting.set_name)};
  }
  return {
      "topology", Level::warning,
      "a server on its own: if it is lost, so are its locks, and waiters have to poll; make it a "
      "replica set, even of one"};
}

Finding judge_write_concern(std::string_view concern) {
  if (concern == "majority") {
    return {"write_concern", Level::good, "a lock counts when a majority has it"};
  }
  return {
      "write_concern", Level::warning,
      "w is " + base::printable(concern) +
          ": where that is no majority, a fail-over may forget a lock, and two hold it; leave it "
          "at majority, or let the resource check tokens"};
}

Finding judge_index(std::optional<std::int64_t> seconds) {
  if (!seconds) {
    return {"ttl_index", Level::warning,
            "none on expiresAt yet: names that are not in use are not forgotten; the first claim "
            "makes it, if the user may"};
  }
  return {"ttl_index", Level::good,
          "names that are not in use are forgotten after " +
              base::short_duration(std::chrono::seconds(*seconds))};
}

}  // namespace holdfast::engines::mongodb::internal
