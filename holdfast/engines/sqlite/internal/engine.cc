#include <holdfast/engines/sqlite/internal/engine.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/sqlite/internal/machine.h>
#include <holdfast/store/lease_rules.h>

namespace holdfast::engines::sqlite::internal {

namespace {

namespace rules = store::lease_rules;
using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::Result;
using store::Instant;
using store::Record;
using store::Renewal;
using store::RenewOutcome;

std::unique_ptr<WakeBoard> open_board(const std::filesystem::path& database,
                                      base::Duration clock_ahead, const base::Logger& logger) {
  Result<std::unique_ptr<WakeBoard>> board = WakeBoard::open(database, clock_ahead);
  if (!board) {
    logger.warn("waiting for other processes will poll: " + board.error().message);
    return nullptr;
  }
  return *std::move(board);
}

// The places of the renewals, those of one name beside each other.
std::vector<std::size_t> grouped_by_name(std::span<const Renewal> renewals) {
  std::vector<std::size_t> places(renewals.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, {}, [&](std::size_t place) { return renewals[place].name; });
  return places;
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(SqliteOptions options) {
  HOLDFAST_TRY_LET(Machine machine, complete(std::move(options.machine)));
  options.machine = std::move(machine);
  HOLDFAST_TRY_LET(auto shared, SharedConnection::open(options, Access::at_least_read));
  // A reader makes no file: it would belong to the reader, and shut the writers out.
  std::unique_ptr<WakeBoard> board =
      shared->connection().is_read_only()
          ? nullptr
          : open_board(shared->connection().file(), options.machine.clock_ahead, options.logger);
  std::unique_ptr<Engine> engine(
      new Engine(std::move(options), std::move(shared), std::move(board)));
  HOLDFAST_TRY_LET(const std::int64_t epoch,
                   engine->ledger_.enter_epoch(engine->options_.machine.boot_id));
  engine->records_.emplace(engine->connection_, epoch);
  engine->sweeper_.emplace(engine->connection_, *engine->records_);
  return engine;
}

Engine::Engine(SqliteOptions options, std::unique_ptr<SharedConnection> shared,
               std::unique_ptr<WakeBoard> board)
    : options_(std::move(options)),
      shared_(std::move(shared)),
      connection_(shared_->connection()),
      transactions_(shared_->transactions()),
      ledger_(connection_, transactions_, options_.machine),
      queue_(connection_),
      watchers_(std::move(board), options_.logger) {}

Instant Engine::instant(const Loaded& loaded, base::TimePoint time) const {
  return {.time = time, .token_floor = std::max(ledger_.wall_token(), loaded.high_water + 1)};
}

Result<void> Engine::change(std::string_view name, Deadline deadline, const NeededLeases& needed,
                            const Rule& rule) {
  const Result<News> news = change_quietly(name, deadline, needed, rule);
  if (!news) [[unlikely]] {
    return std::unexpected(news.error());
  }
  if (news->given) {
    watchers_.grant(name, news->given->to, news->given->id);
  } else if (news->is_eased) {
    watchers_.notify(name);
  }
  return {};
}

Result<void> Engine::check_writable() const {
  if (connection_.is_read_only()) [[unlikely]] {
    return fail(ErrorCode::unsupported,
                "the file " + base::printable(connection_.file()) +
                    " may only be read by this user: only listings and looks work. To lock, make "
                    "it, its folder and the files beside it writable");
  }
  return {};
}

Result<Engine::News> Engine::change_quietly(std::string_view name, Deadline deadline,
                                            const NeededLeases& needed, const Rule& rule) {
  const Result<Session> session = shared_->enter(deadline);
  if (!session) [[unlikely]] {
    return std::unexpected(session.error());
  }
  HOLDFAST_TRY(check_writable());
  for (bool is_again = false;; is_again = true) {
    Applied applied;
    const Result<void> changed =
        transactions_.run([&] { return apply(name, needed, rule, applied); });
    if (!changed && transactions_.take_was_full() && !is_again) [[unlikely]] {
      connection_.reuse_log();
      continue;
    }
    if (changed) [[likely]] {
      applied.queue->settle(watchers_);
      sweep_if_due();
      return News{.is_eased = applied.is_eased, .given = applied.queue->given()};
    }
    if (applied.beyond == 0) {
      return std::unexpected(changed.error());
    }
    HOLDFAST_TRY(ledger_.raise_ceiling(applied.beyond));
  }
}

Result<void> Engine::apply(std::string_view name, const NeededLeases& needed, const Rule& rule,
                           Applied& applied) {
  const base::TimePoint time = options_.machine.now();
  const Result<Loaded> loaded = records_->load(name, needed, time);
  if (!loaded) [[unlikely]] {
    return std::unexpected(loaded.error());
  }
  const Record& before = loaded->record;
  Record record = before;
  const Instant now = instant(*loaded, time);
  applied.queue.emplace(queue_, places_, watchers_, name, loaded->has_queue);
  if (auto done = rule(record, *applied.queue, now); !done || record == before) {
    return done;
  }
  applied.is_eased = rules::is_eased(rules::load_of(before), rules::load_of(record));
  if (record.last_token > loaded->ceiling) [[unlikely]] {
    applied.beyond = record.last_token;
    return fail(ErrorCode::internal, "the tokens have reached their ceiling");
  }
  return records_->save(name, *loaded, record, time);
}

Result<std::vector<RenewOutcome>> Engine::renew(std::span<const Renewal> renewals,
                                                Deadline deadline) {
  HOLDFAST_TRY_LET(const Session session, shared_->enter(deadline));
  HOLDFAST_TRY(check_writable());
  const std::vector<std::size_t> places = grouped_by_name(renewals);
  const auto renew_all = [&]() -> Result<std::vector<RenewOutcome>> {
    std::vector<RenewOutcome> outcomes(renewals.size(), RenewOutcome::failed);
    std::optional<base::Error> first_corrupt;
    bool any_decided = false;
    for (auto rest = std::span(places); !rest.empty();) {
      const auto other = std::ranges::find_if(rest, [&](std::size_t place) {
        return renewals[place].name != renewals[rest.front()].name;
      });
      const auto of_name = rest.first(static_cast<std::size_t>(other - rest.begin()));
      auto renewed = renew_name(renewals, of_name, outcomes);
      if (!renewed && renewed.error().code != ErrorCode::corrupt) {
        return std::unexpected(std::move(renewed).error());
      }
      any_decided |= renewed.has_value();
      if (!renewed && !first_corrupt) {
        first_corrupt = std::move(renewed).error();
      }
      rest = rest.subspan(of_name.size());
    }
    if (first_corrupt && !any_decided) {
      return std::unexpected(*std::move(first_corrupt));
    }
    return outcomes;
  };
  auto renewed = transactions_.run(renew_all);
  if (!renewed && transactions_.take_was_full()) [[unlikely]] {
    connection_.reuse_log();
    renewed = transactions_.run(renew_all);
  }
  return renewed;
}

Result<void> Engine::renew_name(std::span<const Renewal> renewals,
                                std::span<const std::size_t> of_name,
                                std::vector<RenewOutcome>& outcomes) {
  if (connection_.deadline().expired(base::steady_clock().now())) {
    return fail(ErrorCode::unavailable,
                "the deadline passed during the batch, nothing was renewed");
  }
  const std::string_view name = renewals[of_name.front()].name;
  std::vector<base::LeaseId> ids;
  for (const std::size_t place : of_name) {
    ids.push_back(renewals[place].id);
  }
  Applied applied;  // of no interest: a renewal mints no token, and lets in nobody
  return apply(
      name, {.ids = ids, .ended = NeededLeases::Ended::not_needed},
      [&](Record& record, NameQueue&, const Instant& now) -> Result<void> {
        for (const std::size_t place : of_name) {
          const Renewal& renewal = renewals[place];
          outcomes[place] = rules::renew(record, renewal.id, renewal.ttl.unchecked(), now);
        }
        return {};
      },
      applied);
}

Result<std::optional<store::NameState>> Engine::look(const base::Name& name, Deadline deadline) {
  HOLDFAST_TRY_LET(const Session session, shared_->enter(deadline));
  HOLDFAST_TRY(connection_.check_in_place());
  HOLDFAST_TRY_LET(const Loaded loaded, records_->load_all(name.view()));
  return rules::look(name, loaded.record, instant(loaded, options_.machine.now()));
}

Result<store::HitOutcome> Engine::look_at_hits(const base::Name& name, const store::Hit& hit,
                                               Deadline deadline) {
  HOLDFAST_TRY_LET(const Session session, shared_->enter(deadline));
  HOLDFAST_TRY(connection_.check_in_place());
  HOLDFAST_TRY_LET(Loaded loaded, records_->load_all(name.view()));
  const store::Instant now = instant(loaded, options_.machine.now());
  return rules::hit(loaded.record, hit, now);
}

Result<store::Page> Engine::list(std::string_view prefix, const store::PageRequest& request,
                                 Deadline deadline) {
  HOLDFAST_TRY_LET(const Session session, shared_->enter(deadline));
  HOLDFAST_TRY(connection_.check_in_place());
  store::Page page;
  const Instant now{.time = options_.machine.now()};
  const auto add = [&](std::string_view text, const Record& record) {
    const Result<base::Name> name = base::Name::make(text);
    auto state = name ? rules::look(*name, record, now) : std::nullopt;
    if (!state) {
      return Records::Next::go_on;
    }
    if (page.names.size() == request.limit) {  // one more: there is a next page
      page.next = page.names.back().name.view();
      return Records::Next::stop;
    }
    page.names.push_back(*std::move(state));
    return Records::Next::go_on;
  };
  HOLDFAST_TRY_LET(std::optional<std::string> listed,
                   records_->list(prefix, request.after, now.time, add));
  if (listed) {
    page.next = *std::move(listed);
  }
  return page;
}

base::TimePoint Engine::unused_since() const {
  return base::add_saturating(options_.machine.now(), -options_.retention);
}

Result<std::size_t> Engine::sweep(Deadline deadline) {
  std::size_t forgotten = 0;
  // From where the walk has come to the end, and from the beginning to the end.
  for (int ends = 0; ends < 2;) {
    const Result<Session> session =
        shared_->enter(deadline);  // one step at a time: others get their turn
    if (!session) {
      return std::unexpected(session.error());
    }
    HOLDFAST_TRY(check_writable());
    const auto step = transactions_.run([&] { return sweeper_->step(unused_since()); });
    if (!step) {
      return std::unexpected(step.error());
    }
    forgotten += step->forgotten;
    ends += step->at_end ? 1 : 0;
  }
  return forgotten;
}

void Engine::sweep_if_due() {
  if (!sweeper_->is_due()) [[likely]] {
    return;
  }
  // The caller has what it wanted: it does not wait for this, nor hear of its failure.
  connection_.set_deadline(Deadline::at(base::TimePoint::min()));
  const Connection::Uninterrupted uninterrupted(connection_);
  const auto step = transactions_.run([&] { return sweeper_->step(unused_since()); });
  if (!step && options_.logger.enabled(base::LogLevel::debug)) {
    options_.logger.debug("the clean-up was put off: " + step.error().message);
  }
}

}  // namespace holdfast::engines::sqlite::internal
