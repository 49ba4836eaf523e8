#include <holdfast/engines/postgresql/postgres_store.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/base/try.h>
#include <holdfast/engines/postgresql/internal/answers.h>
#include <holdfast/engines/postgresql/internal/bytes_after.h>
#include <holdfast/engines/postgresql/internal/check_options.h>
#include <holdfast/engines/postgresql/internal/parameters.h>
#include <holdfast/engines/postgresql/internal/pool.h>
#include <holdfast/engines/postgresql/internal/watchers.h>

namespace holdfast::engines::postgresql {

namespace {

using base::Deadline;
using base::LeaseId;
using base::Name;
using base::Result;
using internal::Parameters;
using internal::Pool;
using internal::Rows;
using store::RenewOutcome;

// The number of leases that one statement renews: few enough that its transaction is short.
constexpr std::size_t kBatch = 10'000;

bool is_mutex(const store::Claim& claim) { return claim.permits == store::Permits::mutex(); }

// The parts that the operations use, in the order in which they are made.
class LeaseRows {
 public:
  LeaseRows(std::unique_ptr<Pool> the_pool, Time the_time)
      : pool(std::move(the_pool)),
        time(std::move(the_time)),
        watchers(*pool, [this] { return now(); }) {}

  // Returns the time by which leases are judged; nothing for that of the server.
  [[nodiscard]] std::optional<std::int64_t> now() const {
    return time ? std::optional<std::int64_t>(time().count()) : std::nullopt;
  }
  [[nodiscard]] std::string key(std::string_view name) const {
    return pool->options().prefix + std::string(name);
  }
  [[nodiscard]] const internal::Schema::Statements& statements() const noexcept {
    return pool->schema().statements();
  }
  Result<Rows> change(const internal::Statement& statement, const Parameters& parameters,
                      Deadline deadline) {
    return pool->run(statement, parameters, Pool::Changes::yes, deadline);
  }
  Result<Rows> read(const internal::Statement& statement, const Parameters& parameters,
                    Deadline deadline) {
    return pool->run(statement, parameters, Pool::Changes::no, deadline);
  }
  // Appends one outcome for each.
  Result<void> renew(std::span<const store::Renewal> renewals, Deadline deadline,
                     std::vector<RenewOutcome>& outcomes);

  const std::unique_ptr<Pool> pool;
  const Time time;
  internal::Watchers watchers;
};

Result<void> LeaseRows::renew(std::span<const store::Renewal> renewals, Deadline deadline,
                              std::vector<RenewOutcome>& outcomes) {
  std::vector<std::string> keys;
  std::vector<LeaseId> ids;
  std::vector<std::int64_t> ttls;
  for (const store::Renewal& renewal : renewals) {
    keys.push_back(key(renewal.name));
    ids.push_back(renewal.id);
    ttls.push_back(std::chrono::ceil<std::chrono::microseconds>(renewal.ttl.unchecked()).count());
  }
  const std::vector<std::string_view> names(keys.begin(), keys.end());
  Parameters parameters;
  parameters.all_bytes(names).all_ids(ids).all_numbers(ttls).optional_number(now());
  HOLDFAST_TRY_LET(const Rows rows, change(statements().renew, parameters, deadline));
  return internal::renew_outcomes(rows, renewals.size(), outcomes);
}

class PostgresStore final : public store::LeaseStore {
 public:
  explicit PostgresStore(std::unique_ptr<LeaseRows> rows) : rows_(std::move(rows)) {}

  ~PostgresStore() override {
    if (!rows_->pool->check_process()) {
      // In a forked child: the connections are the parent's, and no thread listens.
      static_cast<void>(rows_.release());
    }
  }

  [[nodiscard]] store::Capabilities capabilities() const override {
    return {.engine = "postgresql",
            .durable = true,
            .push = rows_->watchers.may_hear(),
            .cross_process = true,
            .cross_machine = true,
            .queues_claims = true};
  }

 private:
  Result<store::ClaimOutcome> do_claim(const Name& name, const store::Claim& claim,
                                       Deadline deadline) override {
    HOLDFAST_TRY(rows_->pool->check_process());
    const bool waits = is_mutex(claim) && claim.waits;
    Parameters parameters;
    parameters.bytes(rows_->key(name.view()))
        .id(claim.id)
        .bytes(claim.owner)
        .bytes(claim.reason)
        .time(claim.ttl.unchecked())
        .number(claim.permits.count)
        .number(claim.permits.capacity)
        .time(claim.holds_back)
        .flag(waits)
        .number(rows_->watchers.waits_as(name.view()))
        .time(rows_->pool->options().retention)
        .optional_number(rows_->now());
    HOLDFAST_TRY_LET(const Rows rows,
                     rows_->change(rows_->statements().claim, parameters, deadline));
    auto outcome = internal::claim_outcome(rows);
    if (auto* const busy = outcome ? std::get_if<store::Busy>(&*outcome) : nullptr) {
      busy->pending = waits;
    }
    return outcome;
  }

  Result<std::vector<RenewOutcome>> do_renew(std::span<const store::Renewal> renewals,
                                             Deadline deadline) override {
    std::vector<RenewOutcome> outcomes;
    outcomes.reserve(renewals.size());
    for (auto left = renewals; !left.empty(); left = left.subspan(std::min(kBatch, left.size()))) {
      HOLDFAST_TRY(rows_->renew(left.first(std::min(kBatch, left.size())), deadline, outcomes));
    }
    const bool all_failed =
        !outcomes.empty() && std::ranges::all_of(outcomes, [](RenewOutcome outcome) {
          return outcome == RenewOutcome::failed;
        });
    if (all_failed) {
      return base::fail(base::ErrorCode::corrupt,
                        "the record has numbers that Holdfast has not written");
    }
    return outcomes;
  }

  Result<store::TransferOutcome> do_transfer(const Name& name, const LeaseId& from,
                                             const store::Claim& to, Deadline deadline) override {
    Parameters parameters;
    parameters.bytes(rows_->key(name.view()))
        .id(from)
        .id(to.id)
        .bytes(to.owner)
        .bytes(to.reason)
        .time(to.ttl.unchecked())
        .number(to.permits.count)
        .number(to.permits.capacity)
        .optional_number(rows_->now());
    HOLDFAST_TRY_LET(const Rows rows,
                     rows_->change(rows_->statements().transfer, parameters, deadline));
    return internal::transfer_outcome(rows);
  }

  Result<store::ReleaseOutcome> do_release(const Name& name, const LeaseId& id,
                                           Deadline deadline) override {
    HOLDFAST_TRY(rows_->pool->check_process());
    Parameters parameters;
    parameters.bytes(rows_->key(name.view()))
        .id(id)
        .number(rows_->watchers.waits_as(name.view()))
        .optional_number(rows_->now());
    HOLDFAST_TRY_LET(const Rows rows,
                     rows_->change(rows_->statements().release, parameters, deadline));
    return internal::release_outcome(rows);
  }

  Result<std::optional<store::NameState>> do_look(const Name& name, Deadline deadline) override {
    HOLDFAST_TRY_LET(
        const Rows rows,
        rows_->read(rows_->statements().look,
                    Parameters().bytes(rows_->key(name.view())).optional_number(rows_->now()),
                    deadline));
    return internal::look_outcome(name, rows);
  }

  Result<store::Page> do_list(std::string_view prefix, const store::PageRequest& request,
                              Deadline deadline) override {
    const std::string begin = rows_->key(prefix);
    const auto end = internal::bytes_after(begin);
    Parameters parameters;
    parameters.bytes(begin);
    if (end) {
      parameters.bytes(*end);
    } else {
      parameters.nothing();
    }
    parameters.bytes(request.after.empty() ? std::string() : rows_->key(request.after))
        .number(static_cast<std::int64_t>(request.limit) + 1)
        .optional_number(rows_->now());
    HOLDFAST_TRY_LET(const Rows rows, rows_->read(rows_->statements().list, parameters, deadline));
    HOLDFAST_TRY_LET(auto names,
                     internal::listed_names(rows, rows_->pool->options().prefix.size()));
    store::Page page;
    page.names = std::move(names);
    if (page.names.size() > request.limit) {  // one more: there is a next page
      page.names.erase(page.names.begin() + static_cast<std::ptrdiff_t>(request.limit),
                       page.names.end());
      page.next = page.names.back().name.view();
    }
    return page;
  }

  Result<store::HitOutcome> do_hit(const Name& name, const store::Hit& hit,
                                   Deadline deadline) override {
    Parameters parameters;
    parameters.bytes(rows_->key(name.view()))
        .number(hit.limit)
        .time(hit.period.unchecked())
        .flag(hit.window == store::Window::sliding)
        .number(hit.count)
        .time(rows_->pool->options().retention)
        .optional_number(rows_->now());
    HOLDFAST_TRY_LET(const Rows rows, rows_->change(rows_->statements().hit, parameters, deadline));
    return internal::hit_outcome(rows);
  }

  Result<store::Watch> do_watch(const Name& name, store::WatchCallback callback) override {
    HOLDFAST_TRY(rows_->pool->check_process());
    return rows_->watchers.add(name.view(), std::move(callback));
  }

  std::unique_ptr<LeaseRows> rows_;
};

}  // namespace

Result<std::unique_ptr<store::LeaseStore>> open_store(PostgresOptions options, Time time) {
  HOLDFAST_TRY(internal::check_options(options));
  HOLDFAST_TRY_LET(auto pool, Pool::open(std::move(options)));
  return std::make_unique<PostgresStore>(
      std::make_unique<LeaseRows>(std::move(pool), std::move(time)));
}

}  // namespace holdfast::engines::postgresql
