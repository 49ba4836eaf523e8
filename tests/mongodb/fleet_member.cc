#include <tests/mongodb/fleet_member.h>

#include <stdexcept>

#include <holdfast/base/ids.h>

namespace holdfast::tests {

namespace {

std::string until(std::int64_t expiry_ms) {
  return R"({"$dateAdd": {"startDate": "$$NOW", "unit": "millisecond", "amount": )" +
         std::to_string(expiry_ms) + "}}";
}

// A field of the answer, which is JSON as our plain client writes it.
std::string after(const std::string& json, const std::string& key) {
  const std::string mark = "\"" + key + "\" : ";
  const std::size_t found = json.find(mark);
  if (found == std::string::npos) {
    return "";
  }
  const std::size_t begin = found + mark.size();
  return json.substr(begin, json.find_first_of(",}", begin) - begin);
}

}  // namespace

std::optional<std::int64_t> FleetMember::try_acquire(const std::string& name,
                                                     std::int64_t expiry_ms) {
  // A GUID, as .NET writes it with the format N.
  lock_id_ = to_string(base::LeaseId::generate());
  const std::string is_free =
      R"({"$lte": [{"$ifNull": ["$expiresAt", {"$date": {"$numberLong": "0"}}]}, "$$NOW"]})";
  const auto choose = [&](const std::string& field, const std::string& value) {
    return "\"" + field + R"(": {"$cond": [)" + is_free + ", " + value + ", \"$" + field + "\"]}";
  };
  const std::string set =
      choose("lockId", json_text(lock_id_)) + ", " + choose("expiresAt", until(expiry_ms)) + ", " +
      choose("acquiredAt", "\"$$NOW\"") + ", " +
      choose(
          "fencingToken",
          R"({"$add": [{"$ifNull": ["$fencingToken", {"$numberLong": "0"}]}, {"$numberLong": "1"}]})");
  const std::string answer = client_.run(
      database_, R"({"findAndModify": "distributed.locks", "query": {"_id": )" + json_text(name) +
                     R"(}, "update": [{"$set": {)" + set + R"(}}], "upsert": true, "new": true})");
  if (after(answer, "lockId") != "\"" + lock_id_ + "\"") {
    return std::nullopt;
  }
  return std::stoll(after(answer, "fencingToken"));
}

bool FleetMember::extend(const std::string& name, std::int64_t expiry_ms) {
  const std::string answer = client_.run(
      database_, R"({"update": "distributed.locks", "updates": [{"q": {"_id": )" + json_text(name) +
                     R"(, "lockId": ")" + lock_id_ + R"("}, "u": [{"$set": {"expiresAt": )" +
                     until(expiry_ms) + "}}]}]}");
  return after(answer, "n") == "1";
}

bool FleetMember::release(const std::string& name) {
  const std::string answer = client_.run(
      database_, R"({"delete": "distributed.locks", "deletes": [{"q": {"_id": )" + json_text(name) +
                     R"(, "lockId": ")" + lock_id_ + R"("}, "limit": 1}]})");
  return after(answer, "n") == "1";
}

}  // namespace holdfast::tests
