#include <holdfast/engines/redis/internal/name_scan.h>

#include <algorithm>
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

// One walk over the keys.
class Scan {
 public:
  Scan(Connection& connection, const KeySpace& keys, std::string_view prefix,
       std::string_view after, base::Deadline deadline, const ScanLimits& limits)
      : connection_(connection),
        keys_(keys),
        prefix_(prefix),
        after_(after),
        deadline_(deadline),
        limits_(limits) {}

  Result<Names> run() {
    std::string cursor = "0";
    for (std::size_t step = 0; step < limits_.steps; ++step) {
      HOLDFAST_TRY_LET(const auto found, next(cursor));
      for (const Reply& key : found.elements()) {
        note(key.text());
      }
      if (ours_.size() > limits_.names || bytes_ > limits_.bytes) {
        return fail(ErrorCode::limit_exceeded,
                    "there are more names than one listing may have: list a prefix of them");
      }
      if (cursor == "0") {
        return all();
      }
      // The keys come in no order, so there will be too many; the server can leave them out.
      if (foreign() > 2 * limits_.foreign) {
        takes_plain_ = false;
        plain_.clear();
      }
    }
    return fail(ErrorCode::unavailable, "the server's answers to SCAN have no end");
  }

 private:
  // Returns the keys of one step, and the cursor of the next one through `cursor`.
  Result<Reply> next(std::string& cursor) {
    const std::string pattern =
        takes_plain_ ? keys_.pattern(prefix_) : keys_.companion_pattern(prefix_);
    const Command command("SCAN", cursor, "MATCH", pattern, "COUNT", kStep);
    HOLDFAST_TRY_LET(Reply step, connection_.call(command, deadline_));
    std::vector<Reply> parts = step.take_elements();
    if (parts.size() != 2 || (parts[0].text() == cursor && cursor != "0")) {
      return fail(ErrorCode::unavailable, "the server gave an unexpected answer to SCAN");
    }
    cursor = parts[0].take_text();
    return std::move(parts[1]);
  }

  void note(std::string_view key) {
    if (const auto companion = keys_.name_of_companion(key)) {
      bytes_ += add(*companion, ours_);
    } else if (const auto plain = keys_.name_of_plain(key); plain && takes_plain_) {
      add(*plain, plain_);
    }
  }

  // Returns how many bytes it has added.
  std::size_t add(std::string_view text, Names& names) const {
    if (!text.starts_with(prefix_) || text <= after_) {
      return 0;
    }
    auto name = base::Name::make(text);
    if (!name) {
      return 0;
    }
    names.push_back(*std::move(name));
    return text.size();
  }

  // Returns how many keys are of other programs: a mutex of ours has a plain key, too.
  [[nodiscard]] std::size_t foreign() const {
    return plain_.size() - std::min(plain_.size(), ours_.size());
  }

  Names all() {
    if (foreign() <= limits_.foreign) {
      std::ranges::move(plain_, std::back_inserter(ours_));
    }
    std::ranges::sort(ours_);
    // SCAN may show a key twice, and a mutex has two keys.
    ours_.erase(std::ranges::unique(ours_).begin(), ours_.end());
    return std::move(ours_);
  }

  Connection& connection_;
  const KeySpace& keys_;
  const std::string_view prefix_;
  const std::string_view after_;
  const base::Deadline deadline_;
  const ScanLimits& limits_;

  Names ours_;  // of companions
  std::size_t bytes_ = 0;
  Names plain_;  // of plain keys, ours and those of other programs
  bool takes_plain_ = true;
};

}  // namespace

Result<Names> scan_names(Connection& connection, const KeySpace& keys, std::string_view prefix,
                         std::string_view after, base::Deadline deadline,
                         const ScanLimits& limits) {
  return Scan(connection, keys, prefix, after, deadline, limits).run();
}

}  // namespace holdfast::engines::redis::internal
