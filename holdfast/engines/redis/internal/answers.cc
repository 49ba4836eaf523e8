#include <holdfast/engines/redis/internal/answers.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/connection/server_errors.h>
#include <holdfast/engines/redis/internal/message.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using store::Holder;

// An array whose first element says what the others are.
class Answer {
 public:
  explicit Answer(Reply reply) : parts_(reply.take_elements()) {}

  [[nodiscard]] bool is(std::string_view kind, std::size_t size) const {
    return parts_.size() == size + 1 && parts_[0].text() == kind;
  }
  [[nodiscard]] Reply& operator[](std::size_t place) { return parts_[place + 1]; }

  // Returns why the answer is none of the expected ones.
  [[nodiscard]] std::unexpected<base::Error> error() {
    if (is("unreadable", 1)) {
      return std::unexpected(failure_of(Reply::of_text(Reply::Kind::error, parts_[1].take_text())));
    }
    if (!is("conflict", 1)) {
      return unexpected_answer();
    }
    return fail(ErrorCode::conflict, base::printable(parts_[1].text()));
  }

 private:
  std::vector<Reply> parts_;
};

// No time that we have stored is longer than the longest lease, or negative.
base::Duration microseconds(const Reply& reply) {
  return std::clamp(base::to_duration(std::chrono::microseconds(reply.integer())),
                    base::Duration::zero(), store::LeaseStore::kMaxTtl);
}

// Saturates: a number that does not fit becomes the greatest one that does.
std::uint32_t count(const Reply& reply) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(reply.integer(), 0, kMost));
}

base::FencingToken token(const Reply& reply) {
  return base::FencingToken(static_cast<std::uint64_t>(std::max<std::int64_t>(reply.integer(), 0)));
}

// A foreign key that never expires counts as the longest lease there is.
base::Duration time_left(const Reply& reply) {
  return reply.integer() < 0 ? store::LeaseStore::kMaxTtl : microseconds(reply);
}

store::Grant grant(Answer& answer) {
  return {.token = token(answer[0]), .time_left = microseconds(answer[1])};
}

Result<Holder> holder(Reply reply) {
  std::vector<Reply> parts = reply.take_elements();
  if (parts.size() != 8) {
    return unexpected_answer();
  }
  // Other programs that lock here may use any text.
  const Result<base::LeaseId> id = base::LeaseId::parse(parts[0].text());
  return Holder{.id = id ? *id : base::LeaseId(),
                .owner = parts[1].take_text(),
                .reason = parts[2].take_text(),
                .permits = count(parts[3]),
                .token = token(parts[4]),
                .held_for = microseconds(parts[5]),
                .time_left = time_left(parts[6]),
                .foreign = parts[7].integer() != 0};
}

Result<std::vector<Holder>> holders(Reply reply) {
  std::vector<Holder> all;
  for (Reply& each : reply.take_elements()) {
    HOLDFAST_TRY_LET(auto one, holder(std::move(each)));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::unexpected<base::Error> unexpected_answer() {
  return fail(ErrorCode::internal, "a script gave an unexpected answer");
}

Result<store::ClaimOutcome> claim_outcome(Result<Reply> answered, base::Duration ttl) {
  HOLDFAST_TRY_LET(Reply reply, std::move(answered));
  // The usual case: the token alone.
  if (reply.kind() == Reply::Kind::string) [[likely]] {
    const auto token = read_token(reply.text());
    if (!token) {
      return unexpected_answer();
    }
    return store::Grant{.token = *token, .time_left = ttl};
  }
  Answer answer(std::move(reply));
  if (answer.is("grant", 2)) {
    return grant(answer);
  }
  if (!answer.is("busy", 2)) {
    return answer.error();
  }
  HOLDFAST_TRY_LET(auto who, holders(std::move(answer[1])));
  return store::Busy{.holders = std::move(who), .frees_in = time_left(answer[0])};
}

namespace {

store::RenewOutcome renew_outcome(std::int64_t answer) {
  return answer == 1   ? store::RenewOutcome::renewed
         : answer == 0 ? store::RenewOutcome::lost
                       : store::RenewOutcome::failed;
}

// Returns why leases of this part have failed, if any did.
std::optional<base::Error> read_renewals(const Scripts::Part& part,
                                         std::vector<store::RenewOutcome>& outcomes) {
  if (!part.reply) {
    return part.reply.error();
  }
  const std::vector<Reply>& answers = part.reply->elements();
  if (answers.size() != part.batch.size()) {
    return unexpected_answer().error();
  }
  std::optional<base::Error> error;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    outcomes[part.batch[i]] = renew_outcome(answers[i].integer());
    if (outcomes[part.batch[i]] == store::RenewOutcome::failed) {
      error = {ErrorCode::corrupt,
               "what is stored for the name is not readable; it is left as it is"};
    }
  }
  return error;
}

}  // namespace

Result<std::vector<store::RenewOutcome>> renew_outcomes(std::span<const Scripts::Part> parts,
                                                        std::size_t count) {
  std::vector<store::RenewOutcome> outcomes(count, store::RenewOutcome::failed);
  std::optional<base::Error> first_error;
  for (const Scripts::Part& part : parts) {
    auto error = read_renewals(part, outcomes);
    if (error && !first_error) {
      first_error = std::move(error);
    }
  }
  if (first_error &&
      std::ranges::count(outcomes, store::RenewOutcome::failed) == std::ssize(outcomes)) {
    return std::unexpected(*std::move(first_error));
  }
  return outcomes;
}

Result<store::TransferOutcome> transfer_outcome(Result<Reply> answered) {
  HOLDFAST_TRY_LET(Reply reply, std::move(answered));
  Answer answer(std::move(reply));
  if (answer.is("grant", 2)) {
    return grant(answer);
  }
  if (answer.is("lost", 0)) {
    return store::Lost{};
  }
  if (answer.is("held back", 0)) {
    return store::HeldBack{};
  }
  return answer.error();
}

Result<store::ReleaseOutcome> release_outcome(Result<Reply> answered) {
  HOLDFAST_TRY_LET(const Reply reply, std::move(answered));
  if (reply.kind() != Reply::Kind::integer) {
    return unexpected_answer();
  }
  return reply.integer() == 1 ? store::ReleaseOutcome::released : store::ReleaseOutcome::not_held;
}

Result<store::HitOutcome> hit_outcome(Result<Reply> answered) {
  HOLDFAST_TRY_LET(Reply reply, std::move(answered));
  Answer answer(std::move(reply));
  if (!answer.is("hit", 4)) {
    return answer.error();
  }
  return store::HitOutcome{.allowed = answer[3].integer() == 0,
                           .hits = count(answer[0]),
                           .remaining = count(answer[1]),
                           .resets_in = microseconds(answer[2]),
                           .retry_after = microseconds(answer[3])};
}

Result<std::optional<store::NameState>> name_state(const base::Name& name, Reply reply) {
  Answer answer(std::move(reply));
  if (!answer.is("held", 2)) {
    return answer.error();
  }
  HOLDFAST_TRY_LET(auto who, holders(std::move(answer[1])));
  if (who.empty()) {
    return std::nullopt;
  }
  return store::NameState{.name = name, .capacity = count(answer[0]), .holders = std::move(who)};
}

Result<std::optional<store::NameState>> only_state(const base::Name& name, Result<Reply> answered) {
  HOLDFAST_TRY_LET(Reply reply, std::move(answered));
  std::vector<Reply> states = reply.take_elements();
  if (states.size() != 1) {
    return unexpected_answer();
  }
  return name_state(name, std::move(states.front()));
}

}  // namespace holdfast::engines::redis::internal
