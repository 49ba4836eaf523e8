#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/name.h>
#include <holdfast/engines/sqlite/internal/ledger.h>
#include <holdfast/engines/sqlite/internal/name_queue.h>
#include <holdfast/engines/sqlite/internal/queue.h>
#include <holdfast/engines/sqlite/internal/records.h>
#include <holdfast/engines/sqlite/internal/shared_connection.h>
#include <holdfast/engines/sqlite/internal/sweeper.h>
#include <holdfast/engines/sqlite/internal/watchers.h>
#include <holdfast/engines/sqlite/sqlite_options.h>
#include <holdfast/store/lease_store.h>
#include <holdfast/store/record.h>

namespace holdfast::engines::sqlite::internal {

// Runs rules on the records of an open file, for one thread after the other.
//
// Thread-safe; waits, for threads and for processes, no longer than the deadline, or than the busy
// timeout where there is none. In a forked child everything fails with ErrorCode::unsupported.
class Engine {
 public:
  // A change to a record, and to the queue of its name: an error leaves both as they
  // were.
  using Rule = std::function<base::Result<void>(store::Record& record, NameQueue& queue,
                                                const store::Instant& now)>;

  [[nodiscard]] static base::Result<std::unique_ptr<Engine>> open(SqliteOptions options);

  // Applies a rule to a record with the leases that it needs, and saves what it changed, in one
  // transaction. Then notifies the watchers of the name if it was granted to a waiter, or may be
  // free.
  [[nodiscard]] base::Result<void> change(std::string_view name, base::Deadline deadline,
                                          const NeededLeases& needed, const Rule& rule);
  [[nodiscard]] base::Result<std::vector<store::RenewOutcome>> renew(
      std::span<const store::Renewal> renewals, base::Deadline deadline);
  [[nodiscard]] base::Result<std::optional<store::NameState>> look(const base::Name& name,
                                                                   base::Deadline deadline);
  // Says what a hit that counts nothing finds. Also where this process may only read the file.
  [[nodiscard]] base::Result<store::HitOutcome> look_at_hits(const base::Name& name,
                                                             const store::Hit& hit,
                                                             base::Deadline deadline);
  [[nodiscard]] base::Result<store::Page> list(std::string_view prefix,
                                               const store::PageRequest& request,
                                               base::Deadline deadline);
  // Forgets all tombstones that are older than the retention; how many.
  [[nodiscard]] base::Result<std::size_t> sweep(base::Deadline deadline);

  [[nodiscard]] Watchers& watchers() noexcept { return watchers_; }
  // Returns whether this is the process that opened the file.
  [[nodiscard]] bool is_ours() const noexcept { return shared_->is_ours(); }
  [[nodiscard]] base::Result<void> check_ours() const { return shared_->check_ours(); }

 private:
  using Session = SharedConnection::Session;

  Engine(SqliteOptions options, std::unique_ptr<SharedConnection> shared,
         std::unique_ptr<WakeBoard> board);

  // ErrorCode::unsupported if this process may only read the file. Within a session.
  [[nodiscard]] base::Result<void> check_writable() const;
  [[nodiscard]] store::Instant instant(const Loaded& loaded, base::TimePoint time) const;
  // The news of a change that was committed.
  struct News {
    bool is_eased = false;
    std::optional<NameQueue::Given> given;
  };
  [[nodiscard]] base::Result<News> change_quietly(std::string_view name, base::Deadline deadline,
                                                  const NeededLeases& needed, const Rule& rule);
  // The changes of apply() in a transaction that is not committed yet.
  struct Applied {
    std::uint64_t beyond = 0;  // the token that the ceiling did not allow, if that was the error
    bool is_eased = false;
    std::optional<NameQueue> queue;
  };
  // Within a transaction.
  [[nodiscard]] base::Result<void> apply(std::string_view name, const NeededLeases& needed,
                                         const Rule& rule, Applied& applied);
  [[nodiscard]] base::Result<void> renew_name(std::span<const store::Renewal> renewals,
                                              std::span<const std::size_t> of_name,
                                              std::vector<store::RenewOutcome>& outcomes);
  [[nodiscard]] base::TimePoint unused_since() const;
  void sweep_if_due();

  const SqliteOptions options_;
  const std::unique_ptr<SharedConnection> shared_;

  // Used by one thread at a time, the one that has the session.
  Connection& connection_;
  Transactions& transactions_;
  Ledger ledger_;
  std::optional<Records> records_;  // set once, by open()
  std::optional<Sweeper> sweeper_;
  Queue queue_;
  NameQueue::Places places_;

  Watchers watchers_;
};

}  // namespace holdfast::engines::sqlite::internal
