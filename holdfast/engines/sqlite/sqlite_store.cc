#include <holdfast/engines/sqlite/sqlite_store.h>

#include <unistd.h>

#include <array>
#include <optional>
#include <utility>

#include <holdfast/base/try.h>
#include <holdfast/engines/sqlite/internal/check_options.h>
#include <holdfast/engines/sqlite/internal/engine.h>
#include <holdfast/store/forget_hits.h>
#include <holdfast/store/lease_rules.h>

namespace holdfast::engines::sqlite {

namespace {

namespace rules = store::lease_rules;
using base::Deadline;
using base::LeaseId;
using base::Name;
using base::Result;
using internal::NameQueue;
using store::Instant;
using store::Record;

// Applies a rule that returns the Result of an Outcome.
template <class Outcome, class Rule>
Result<Outcome> change(internal::Engine& engine, const Name& name, Deadline deadline,
                       const internal::NeededLeases& needed, const Rule& rule) {
  std::optional<Result<Outcome>> outcome;
  const Result<void> changed =
      engine.change(name.view(), deadline, needed,
                    [&](Record& record, NameQueue& queue, const Instant& now) -> Result<void> {
                      outcome = rule(record, queue, now);
                      return *outcome ? Result<void>() : std::unexpected(outcome->error());
                    });
  if (!changed) [[unlikely]] {
    return std::unexpected(changed.error());
  }
  return *std::move(outcome);
}

// A free mutex goes to the claim that has waited longest, and to nobody else.
Result<store::ClaimOutcome> claim_mutex(Record& record, NameQueue& queue, const store::Claim& claim,
                                        const Instant& now) {
  if (auto given = queue.give(record, claim.id, now); !given) [[unlikely]] {
    return std::unexpected(std::move(given).error());
  }
  Result<store::ClaimOutcome> outcome = rules::claim(record, claim, now);
  if (!outcome) [[unlikely]] {
    return outcome;
  }
  auto* const busy = std::get_if<store::Busy>(&*outcome);
  if (busy == nullptr || !claim.waits) {
    HOLDFAST_TRY(queue.leave(claim.id));
    return outcome;
  }
  HOLDFAST_TRY_LET(busy->position, queue.wait(claim, now));
  busy->pending = true;
  return outcome;
}

class FileStore final : public SqliteStore {
 public:
  explicit FileStore(std::unique_ptr<internal::Engine> engine) noexcept
      : engine_(std::move(engine)) {}

  ~FileStore() override {
    if (!engine_->is_ours()) {
      // Left as it is: to close the connection would undo, in the memory shared with the parent, a
      // transaction that it may be in; and the listening thread to be joined is not in this
      // process.
      (void)engine_.release();
    }
  }

  [[nodiscard]] store::Capabilities capabilities() const override {
    return {.engine = "sqlite",
            .durable = true,
            .push = engine_->watchers().hears_other_processes(),
            .cross_process = true,
            .cross_machine = false,
            .queues_claims = true};
  }
  Result<std::size_t> sweep_now(Deadline deadline) override { return engine_->sweep(deadline); }
  [[nodiscard]] std::uint64_t times_woken() const noexcept override {
    return engine_->watchers().times_woken();
  }

 private:
  Result<store::ClaimOutcome> do_claim(const Name& name, const store::Claim& claim,
                                       Deadline deadline) override;
  Result<std::vector<store::RenewOutcome>> do_renew(std::span<const store::Renewal> renewals,
                                                    Deadline deadline) override {
    return engine_->renew(renewals, deadline);
  }
  Result<store::TransferOutcome> do_transfer(const Name& name, const LeaseId& from,
                                             const store::Claim& to, Deadline deadline) override;
  Result<store::ReleaseOutcome> do_release(const Name& name, const LeaseId& id,
                                           Deadline deadline) override;
  Result<std::optional<store::NameState>> do_look(const Name& name, Deadline deadline) override {
    return engine_->look(name, deadline);
  }
  Result<store::Page> do_list(std::string_view prefix, const store::PageRequest& page,
                              Deadline deadline) override {
    return engine_->list(prefix, page, deadline);
  }
  Result<store::HitOutcome> do_hit(const Name& name, const store::Hit& hit,
                                   Deadline deadline) override;
  Result<store::Watch> do_watch(const Name& name, store::WatchCallback callback) override;

  std::unique_ptr<internal::Engine> engine_;
};

Result<store::ClaimOutcome> FileStore::do_claim(const Name& name, const store::Claim& claim,
                                                Deadline deadline) {
  auto outcome = change<store::ClaimOutcome>(
      *engine_, name, deadline, {.ids = {&claim.id, 1}, .wanted = claim.permits},
      [&](Record& record, NameQueue& queue, const Instant& now) {
        return claim.permits == store::Permits::mutex() ? claim_mutex(record, queue, claim, now)
                                                        : rules::claim(record, claim, now);
      });
  auto* const busy = outcome ? std::get_if<store::Busy>(&*outcome) : nullptr;
  if (busy != nullptr && busy->pending && !engine_->watchers().hears(name.view(), claim.id)) {
    busy->position = 0;
  }
  return outcome;
}

Result<store::TransferOutcome> FileStore::do_transfer(const Name& name, const LeaseId& from,
                                                      const store::Claim& to, Deadline deadline) {
  const std::array ids = {from, to.id};
  return change<store::TransferOutcome>(
      *engine_, name, deadline, {.ids = ids},
      [&](Record& record, NameQueue& queue, const Instant& now) -> Result<store::TransferOutcome> {
        Result<store::TransferOutcome> outcome = rules::transfer(record, from, to, now);
        if (outcome && std::holds_alternative<store::Grant>(*outcome)) {
          if (auto left = queue.leave(to.id); !left) [[unlikely]] {
            return std::unexpected(std::move(left).error());
          }
        }
        return outcome;
      });
}

Result<store::ReleaseOutcome> FileStore::do_release(const Name& name, const LeaseId& id,
                                                    Deadline deadline) {
  return change<store::ReleaseOutcome>(
      *engine_, name, deadline, {.ids = {&id, 1}},
      [&](Record& record, NameQueue& queue, const Instant& now) -> Result<store::ReleaseOutcome> {
        const store::ReleaseOutcome outcome = rules::release(record, id, now);
        auto done = queue.leave(id);
        if (done) [[likely]] {
          done = queue.give(record, id, now);
        }
        return done ? Result<store::ReleaseOutcome>(outcome) : std::unexpected(done.error());
      });
}

Result<store::HitOutcome> FileStore::do_hit(const Name& name, const store::Hit& hit,
                                            Deadline deadline) {
  if (hit.count == 0 && !store::forgets(hit)) {
    return engine_->look_at_hits(name, hit, deadline);
  }
  return change<store::HitOutcome>(
      *engine_, name, deadline, {},
      [&](Record& record, NameQueue&, const Instant& now) { return rules::hit(record, hit, now); });
}

Result<store::Watch> FileStore::do_watch(const Name& name, store::WatchCallback callback) {
  HOLDFAST_TRY(engine_->check_ours());
  auto* const watch = new store::Watch(engine_->watchers().add(name.view(), std::move(callback)));
  // In a forked child it is left as it is: a thread that is not there may hold its locks.
  return store::Watch([watch, owner = getpid()] {
    if (getpid() == owner) {
      delete watch;
    }
  });
}

}  // namespace

Result<std::shared_ptr<SqliteStore>> open_store(SqliteOptions options) {
  HOLDFAST_TRY(internal::check_options(options));
  HOLDFAST_TRY_LET(std::unique_ptr<internal::Engine> engine,
                   internal::Engine::open(std::move(options)));
  return std::make_shared<FileStore>(std::move(engine));
}

}  // namespace holdfast::engines::sqlite
