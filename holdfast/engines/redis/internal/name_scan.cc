#include <holdfast/engines/redis/internal/name_scan.h>

#include <algorithm>
#include <string>

#include <holdfast/engines/redis/internal/failure.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::fail;
using base::Result;

// How many keys the server looks at in one step.
constexpr int kStep = 1000;

}  // namespace

Result<std::vector<base::Name>> scan_names(Link& link, const KeySpace& keys,
                                           std::string_view prefix, std::string_view after,
                                           base::Deadline deadline) {
  std::vector<base::Name> names;
  std::string cursor = "0";
  do {
    Result<Reply> step = link.call(
        Command("SCAN", cursor, "MATCH", KeySpace::kCompanions, "COUNT", kStep), deadline);
    if (!step) {
      return std::unexpected(std::move(step).error());
    }
    if (step->is_error()) {
      return std::unexpected(failure_of(*step));
    }
    std::vector<Reply> parts = step->take_elements();
    if (parts.size() != 2) {
      return fail(base::ErrorCode::internal, "SCAN gave an unexpected answer");
    }
    cursor = parts[0].text();
    for (const Reply& key : parts[1].elements()) {
      const auto text = keys.name_of_companion(key.text());
      if (!text || !text->starts_with(prefix) || *text <= after) {
        continue;
      }
      if (auto name = base::Name::make(*text)) {
        names.push_back(*std::move(name));
      }
    }
  } while (cursor != "0");
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());  // SCAN may show a key twice
  return names;
}

}  // namespace holdfast::engines::redis::internal
