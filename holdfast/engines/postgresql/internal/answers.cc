#include <holdfast/engines/postgresql/internal/answers.h>

#include <chrono>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/base/try.h>

namespace holdfast::engines::postgresql::internal {

namespace {

using base::Duration;
using base::ErrorCode;
using base::fail;
using base::Result;
using std::chrono::microseconds;

// The columns of the type `answer`.
enum Column : int { kKind, kId, kOwner, kReason, kPermits, kToken, kHeldFor, kTimeLeft };

std::unexpected<base::Error> unexpected_answer() {
  return fail(ErrorCode::corrupt,
              "the server's answer is none that Holdfast's functions give: check the schema");
}

std::string_view kind(const Rows& rows, int row) { return rows.bytes(row, kKind).value_or(""); }

std::unexpected<base::Error> conflict(const Rows& rows) {
  return fail(ErrorCode::conflict, std::string(rows.bytes(0, kReason).value_or("")));
}

// A time in microseconds, which is not negative.
std::optional<Duration> time(const Rows& rows, int row, Column column) {
  constexpr std::int64_t kMost = std::numeric_limits<Duration::rep>::max() / 1000;
  const auto value = rows.number(row, column);
  if (!value || *value < 0) {
    return std::nullopt;
  }
  return microseconds(std::min(*value, kMost));
}

std::optional<std::uint32_t> small(const Rows& rows, int row, Column column) {
  const auto value = rows.number(row, column);
  if (!value || *value < 0 || *value > std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*value);
}

std::optional<base::FencingToken> token(const Rows& rows, int row) {
  const auto value = rows.number(row, kToken);
  return value && *value >= 0
             ? std::optional(base::FencingToken(static_cast<std::uint64_t>(*value)))
             : std::nullopt;
}

Result<store::Grant> grant(const Rows& rows) {
  const auto minted = token(rows, 0);
  const auto left = time(rows, 0, kTimeLeft);
  if (!minted || !left) {
    return unexpected_answer();
  }
  return store::Grant{.token = *minted, .time_left = *left};
}

Result<store::Holder> holder(const Rows& rows, int row) {
  const auto id = rows.id(row, kId);
  const auto permits = small(rows, row, kPermits);
  const auto minted = token(rows, row);
  const auto left = time(rows, row, kTimeLeft);
  if (!id || !permits || !minted || !left) {
    return unexpected_answer();
  }
  return store::Holder{.id = *id,
                       .owner = std::string(rows.bytes(row, kOwner).value_or("")),
                       .reason = std::string(rows.bytes(row, kReason).value_or("")),
                       .permits = *permits,
                       .token = *minted,
                       // The server's clock may have gone back since.
                       .held_for = time(rows, row, kHeldFor).value_or(Duration::zero()),
                       .time_left = *left};
}

// The holders from this row on; `row` is then the first that is none.
Result<std::vector<store::Holder>> holders(const Rows& rows, int& row) {
  std::vector<store::Holder> all;
  for (; row < rows.count() && kind(rows, row) == "holder"; ++row) {
    HOLDFAST_TRY_LET(auto one, holder(rows, row));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

Result<store::ClaimOutcome> claim_outcome(const Rows& rows) {
  const std::string_view said = kind(rows, 0);
  if (said == "grant") [[likely]] {
    return grant(rows);
  }
  if (said == "conflict") {
    return conflict(rows);
  }
  const auto position = small(rows, 0, kPermits);
  const auto left = time(rows, 0, kTimeLeft);
  if (said != "busy" || !position || !left) {
    return unexpected_answer();
  }
  int row = 1;
  HOLDFAST_TRY_LET(auto held_by, holders(rows, row));
  return store::Busy{.holders = std::move(held_by), .frees_in = *left, .position = *position};
}

Result<store::TransferOutcome> transfer_outcome(const Rows& rows) {
  const std::string_view said = kind(rows, 0);
  if (said == "grant") {
    return grant(rows);
  }
  if (said == "conflict") {
    return conflict(rows);
  }
  if (said == "lost") {
    return store::Lost{};
  }
  if (said == "held_back") {
    return store::HeldBack{};
  }
  return unexpected_answer();
}

Result<store::ReleaseOutcome> release_outcome(const Rows& rows) {
  const std::string_view said = kind(rows, 0);
  if (said == "released") [[likely]] {
    return store::ReleaseOutcome::released;
  }
  if (said == "not_held") {
    return store::ReleaseOutcome::not_held;
  }
  return unexpected_answer();
}

Result<store::HitOutcome> hit_outcome(const Rows& rows) {
  if (kind(rows, 0) == "conflict") {
    return conflict(rows);
  }
  const auto hits = small(rows, 0, kPermits);
  const auto remaining = small(rows, 0, kToken);
  const auto resets_in = time(rows, 0, kHeldFor);
  const auto retry_after = time(rows, 0, kTimeLeft);
  if (!hits || !remaining || !resets_in || !retry_after) {
    return unexpected_answer();
  }
  return store::HitOutcome{.allowed = *retry_after == Duration::zero(),
                           .hits = *hits,
                           .remaining = *remaining,
                           .resets_in = *resets_in,
                           .retry_after = *retry_after};
}

Result<void> renew_outcomes(const Rows& rows, std::size_t count,
                            std::vector<store::RenewOutcome>& outcomes) {
  const std::string_view letters = rows.bytes(0, 0).value_or("");
  if (letters.size() != count) {
    return unexpected_answer();
  }
  for (const char letter : letters) {
    switch (letter) {
      case 'r': outcomes.push_back(store::RenewOutcome::renewed); break;
      case 'l': outcomes.push_back(store::RenewOutcome::lost); break;
      default: outcomes.push_back(store::RenewOutcome::failed);
    }
  }
  return {};
}

Result<std::optional<store::NameState>> look_outcome(const base::Name& name, const Rows& rows) {
  if (rows.count() < 2) {
    return std::nullopt;
  }
  const auto capacity = small(rows, 0, kPermits);
  int row = 1;
  HOLDFAST_TRY_LET(auto held_by, holders(rows, row));
  if (!capacity || row != rows.count()) {
    return unexpected_answer();
  }
  return store::NameState{.name = name, .capacity = *capacity, .holders = std::move(held_by)};
}

Result<std::vector<store::NameState>> listed_names(const Rows& rows, std::size_t prefix) {
  std::vector<store::NameState> names;
  for (int row = 0; row < rows.count();) {
    const auto stored = rows.bytes(row, kReason);
    const auto capacity = small(rows, row, kPermits);
    if (kind(rows, row) != "name" || !stored || stored->size() < prefix || !capacity) {
      return unexpected_answer();
    }
    ++row;
    HOLDFAST_TRY_LET(auto held_by, holders(rows, row));
    auto name = base::Name::make(stored->substr(prefix));
    // Another program may use the schema with a longer prefix, or none.
    if (name && !held_by.empty()) {
      names.push_back(
          {.name = *std::move(name), .capacity = *capacity, .holders = std::move(held_by)});
    }
  }
  return names;
}

}  // namespace holdfast::engines::postgresql::internal
