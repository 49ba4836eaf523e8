#include <holdfast/recipes/marker.h>

#include <algorithm>
#include <utility>
#include <variant>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/locks/ask_again.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::recipes {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::Result;
using locks::ask_again;
using store::NameState;

MarkerOptions with_defaults(MarkerOptions options) {
  if (options.owner.empty()) {
    options.owner = locks::default_owner();
  }
  if (options.timeout <= base::Duration::zero()) {
    base::throw_error({ErrorCode::invalid_argument, "MarkerOptions: the timeout is not positive"});
  }
  return options;
}

std::unexpected<base::Error> foreign_mark() {
  return fail(ErrorCode::conflict, "the mark was set by a program that is not Holdfast");
}

}  // namespace

Marker::Marker(const locks::LockProvider& provider, MarkerOptions options)
    : Marker(std::shared_ptr<store::LeaseStore>(provider.core(), &provider.store()),
             std::move(options)) {}

Marker::Marker(std::shared_ptr<store::LeaseStore> store, MarkerOptions options)
    : store_(std::move(store)), options_(with_defaults(std::move(options))) {
  if (store_ == nullptr) {
    base::throw_error({ErrorCode::invalid_argument, "the store is null"});
  }
}

template <class T>
Result<T> Marker::or_proceed(Result<T> outcome, std::string_view key, Result<T> unmarked) const {
  const bool is_outage = !outcome && (outcome.error().code == ErrorCode::unavailable ||
                                      outcome.error().code == ErrorCode::unknown_outcome);
  if (!is_outage || options_.when_unavailable == MarkWhenUnavailable::fail) {
    return outcome;
  }
  options_.logger.warn("proceeding without the mark " + base::printable(key) + ": " +
                       base::to_string(outcome.error()));
  return unmarked;
}

Result<void> Marker::mark(std::string_view key, base::Ttl ttl) {
  return or_proceed<void>(set(key, ttl), key, {});
}

Result<std::optional<MarkGuard>> Marker::try_mark(std::string_view key, base::Ttl ttl) {
  return or_proceed<std::optional<MarkGuard>>(try_set(key, ttl), key, MarkGuard());
}

Result<ClearOutcome> Marker::clear(std::string_view key) {
  return or_proceed<ClearOutcome>(remove(key), key, ClearOutcome::was_not_marked);
}

Result<std::optional<base::Duration>> Marker::time_left(std::string_view key) {
  return or_proceed<std::optional<base::Duration>>(look(key), key, std::nullopt);
}

Result<void> Marker::set(std::string_view key, base::Ttl ttl) {
  HOLDFAST_TRY_LET(const auto name, name_of(key));
  const store::Claim claim = new_claim(ttl);
  const Deadline until = deadline();
  do {
    HOLDFAST_TRY_LET(const auto set, set_once(name, claim, until));
    if (set) {
      return {};
    }
  } while (!until.expired(base::steady_clock().now()));
  return fail(ErrorCode::timed_out, "others replaced the mark again and again");
}

Result<bool> Marker::set_once(std::string_view name, const store::Claim& claim, Deadline until) {
  // Claim first, also after a transfer whose reply was lost: if it was done, the claim says so.
  const auto claimed = ask_again(until, [&] { return store_->claim(name, claim, until); });
  if (!claimed) {
    return std::unexpected(claimed.error());
  }
  const auto* const busy = std::get_if<store::Busy>(&*claimed);
  if (busy == nullptr) {
    return true;
  }
  if (busy->holders.empty()) {
    return false;
  }
  const store::Holder& there = busy->holders.front();
  if (there.foreign) {
    return foreign_mark();
  }
  const auto replaced =
      ask_again(until, [&] { return store_->transfer(name, there.id, claim, until); });
  if (!replaced) {
    return std::unexpected(replaced.error());
  }
  return std::holds_alternative<store::Grant>(*replaced);
}

Result<std::optional<MarkGuard>> Marker::try_set(std::string_view key, base::Ttl ttl) {
  HOLDFAST_TRY_LET(auto name, name_of(key));
  const store::Claim claim = new_claim(ttl);
  const Deadline until = deadline();
  const auto claimed = ask_again(until, [&] { return store_->claim(name, claim, until); });
  if (!claimed) {
    if (claimed.error().code == ErrorCode::unknown_outcome) {
      // If this fails too, the mark, if it was set, expires.
      static_cast<void>(store_->release(name, claim.id, until));
    }
    return std::unexpected(claimed.error());
  }
  if (std::holds_alternative<store::Busy>(*claimed)) {
    return std::nullopt;
  }
  return MarkGuard(store_, std::move(name), claim.id, options_.timeout, options_.logger);
}

Result<ClearOutcome> Marker::remove(std::string_view key) {
  HOLDFAST_TRY_LET(const auto name, name_of(key));
  const Deadline until = deadline();
  const auto state = ask_again(until, [&] { return store_->look(name, until); });
  if (!state) {
    return std::unexpected(state.error());
  }
  if (!*state) {
    return ClearOutcome::was_not_marked;
  }
  ClearOutcome outcome = ClearOutcome::was_not_marked;
  for (const store::Holder& holder : (*state)->holders) {
    if (holder.foreign) {
      return foreign_mark();
    }
    const auto released = ask_again(until, [&] { return store_->release(name, holder.id, until); });
    if (!released) {
      return std::unexpected(released.error());
    }
    if (*released == store::ReleaseOutcome::released) {
      outcome = ClearOutcome::cleared;
    }
  }
  return outcome;
}

Result<bool> Marker::is_marked(std::string_view key) {
  HOLDFAST_TRY_LET(const auto left, time_left(key));
  return left.has_value();
}

Result<std::optional<base::Duration>> Marker::look(std::string_view key) {
  HOLDFAST_TRY_LET(const auto name, name_of(key));
  const Deadline until = deadline();
  const auto state = ask_again(until, [&] { return store_->look(name, until); });
  if (!state) {
    return std::unexpected(state.error());
  }
  if (!*state) {
    return std::nullopt;
  }
  return std::ranges::max((*state)->holders, {}, &store::Holder::time_left).time_left;
}

Deadline Marker::deadline() const {
  return Deadline::after(base::steady_clock(), options_.timeout);
}

Result<std::string> Marker::name_of(std::string_view key) const {
  if (key.empty()) {
    return fail(ErrorCode::invalid_argument, "the key of a mark is empty");
  }
  std::string name = options_.prefix;
  name += key;
  return name;
}

store::Claim Marker::new_claim(base::Ttl ttl) const {
  return {.id = base::LeaseId::generate(), .owner = options_.owner, .reason = "mark", .ttl = ttl};
}

}  // namespace holdfast::recipes
