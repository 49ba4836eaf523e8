#include <holdfast/engines/redis/internal/name_scan.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <holdfast/base/try.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// The number of keys that the server visits in one step.
constexpr int kStep = 1000;

using Names = std::vector<base::Name>;
using NameOfKey = std::function<std::optional<std::string>(std::string_view key)>;

// One walk over the keys.
class Scan {
 public:
  Scan(Connection& connection, std::string_view prefix, std::string_view after,
       base::Deadline deadline, const ScanLimits& limits)
      : connection_(connection),
        prefix_(prefix),
        after_(after),
        deadline_(deadline),
        limits_(limits) {}

  // Returns the names of the keys that have this type (any, if empty) and match.
  Result<Names> run(std::string_view pattern, std::string_view type, const NameOfKey& name_of) {
    Names names;
    std::size_t bytes = 0;
    std::string cursor = "0";
    for (std::size_t step = 0; step < limits_.steps; ++step) {
      HOLDFAST_TRY_LET(auto found, next(cursor, pattern, type));
      for (const Reply& key : found.elements()) {
        auto text = name_of(key.text());
        if (!text || !text->starts_with(prefix_) || *text <= after_) {
          continue;
        }
        if (auto name = base::Name::make(*text)) {
          bytes += text->size();
          names.push_back(*std::move(name));
        }
      }
      if (names.size() > limits_.names || bytes > limits_.bytes) {
        return fail(ErrorCode::limit_exceeded,
                    "there are more names than one listing may have: list a prefix of them");
      }
      if (cursor == "0") {
        return names;
      }
    }
    return fail(ErrorCode::unavailable, "the server's answers to SCAN have no end");
  }

 private:
  // Returns the keys of one step, and the cursor of the next one through `cursor`.
  Result<Reply> next(std::string& cursor, std::string_view pattern, std::string_view type) {
    Command command("SCAN", cursor, "MATCH", pattern, "COUNT", kStep);
    if (!type.empty()) {
      command.add("TYPE").add(type);
    }
    HOLDFAST_TRY_LET(Reply step, connection_.call(command, deadline_));
    std::vector<Reply> parts = step.take_elements();
    if (parts.size() != 2 || (parts[0].text() == cursor && cursor != "0")) {
      return fail(ErrorCode::unavailable, "the server gave an unexpected answer to SCAN");
    }
    cursor = parts[0].take_text();
    return std::move(parts[1]);
  }

  Connection& connection_;
  const std::string_view prefix_;
  const std::string_view after_;
  const base::Deadline deadline_;
  const ScanLimits& limits_;
};

}  // namespace

Result<Names> scan_names(Connection& connection, const KeySpace& keys, std::string_view prefix,
                         std::string_view after, base::Deadline deadline,
                         const ScanLimits& limits) {
  Scan scan(connection, prefix, after, deadline, limits);
  auto names = scan.run(KeySpace::kCompanions, "",
                        [&](std::string_view key) { return keys.name_of_companion(key); });
  if (!names) {
    return names;
  }
  ScanLimits foreign_limits = limits;
  foreign_limits.names = names->size() + limits.foreign;  // ours have a string there, too
  Scan scan_for_foreign(connection, prefix, after, deadline, foreign_limits);
  auto foreign = scan_for_foreign.run(keys.plain_pattern(), "string", [&](std::string_view key) {
    return keys.name_of_plain(key);
  });
  if (foreign) {
    std::ranges::move(*foreign, std::back_inserter(*names));
  } else if (foreign.error().code != ErrorCode::limit_exceeded) {
    return foreign;
  }
  std::ranges::sort(*names);
  // SCAN may show a key twice, and a mutex has two keys.
  names->erase(std::ranges::unique(*names).begin(), names->end());
  return names;
}

}  // namespace holdfast::engines::redis::internal
