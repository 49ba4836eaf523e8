#include <holdfast/engines/sqlite/internal/ledger.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/sqlite/internal/sql.h>

namespace holdfast::engines::sqlite::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// An hour of the wall clock: one sync in an hour.
constexpr std::uint64_t kReserve = 3'600'000'000;

std::int64_t ceiling_above(std::uint64_t token) {
  return static_cast<std::int64_t>(std::min(token, kMaxToken) + kReserve);
}

// While it lives, every commit is synced.
class SyncEveryCommit {
 public:
  explicit SyncEveryCommit(Connection& connection)
      : connection_(connection), begun_(connection.run(sql::kSyncEveryCommit)) {}
  ~SyncEveryCommit() { (void)connection_.run(sql::kSyncAtCheckpoints); }
  SyncEveryCommit(const SyncEveryCommit&) = delete;
  SyncEveryCommit& operator=(const SyncEveryCommit&) = delete;

  [[nodiscard]] const Result<void>& begun() const noexcept { return begun_; }

 private:
  Connection& connection_;
  const Result<void> begun_;
};

}  // namespace

Ledger::Ledger(Connection& connection, Transactions& transactions, const Machine& machine) noexcept
    : connection_(connection),
      transactions_(transactions),
      machine_(machine),
      read_(connection, sql::kReadMeta),
      enter_epoch_(connection, sql::kEnterEpoch),
      empty_queues_(connection, sql::kEmptyQueues),
      empty_leases_(connection, sql::kEmptyLeases),
      raise_ceiling_(connection, sql::kRaiseCeiling) {}

Result<std::int64_t> Ledger::enter_epoch(const std::string& boot_id) {
  HOLDFAST_TRY_LET(const Meta meta, read());
  if (meta.boot_id == boot_id) {
    return meta.epoch;
  }
  if (connection_.is_read_only()) {
    return meta.epoch + 1;  // what the file has is of an earlier boot
  }
  const SyncEveryCommit sync(connection_);
  if (!sync.begun()) {
    return std::unexpected(sync.begun().error());
  }
  return transactions_.run([&] { return begin_epoch(boot_id); });
}

Result<std::int64_t> Ledger::begin_epoch(const std::string& boot_id) {
  const Result<Meta> meta = read();  // again: another process may have been faster
  if (!meta || meta->boot_id == boot_id) {
    return meta ? Result<std::int64_t>(meta->epoch) : std::unexpected(meta.error());
  }
  HOLDFAST_TRY(empty_queues_.run());
  HOLDFAST_TRY(empty_leases_.run());
  Statement::Use use(enter_epoch_);
  use.bind_text(1, boot_id);
  use.bind(2, ceiling_above(std::max(meta->ceiling, wall_token())));
  HOLDFAST_TRY(use.step());
  return meta->epoch + 1;
}

Result<void> Ledger::raise_ceiling(std::uint64_t token) {
  if (token > kMaxToken) {
    return fail(ErrorCode::corrupt, "the file " + base::printable(connection_.file()) +
                                        " has no tokens left: somebody has tampered with it");
  }
  const SyncEveryCommit sync(connection_);
  if (!sync.begun()) {
    return sync.begun();
  }
  return transactions_.run([&]() -> Result<void> {
    Statement::Use use(raise_ceiling_);
    use.bind(1, ceiling_above(token));
    HOLDFAST_TRY(use.step());
    return {};
  });
}

std::uint64_t Ledger::wall_token() const {
  const auto since_epoch = std::chrono::duration_cast<std::chrono::microseconds>(
      machine_.wall_clock().time_since_epoch());
  return static_cast<std::uint64_t>(std::max<std::int64_t>(since_epoch.count(), 1));
}

Result<Ledger::Meta> Ledger::read() {
  Statement::Use use(read_);
  HOLDFAST_TRY_LET(const bool row, use.step());
  if (!row) {
    return fail(ErrorCode::corrupt, "the file " + base::printable(connection_.file()) +
                                        " is damaged, its row of meta is missing");
  }
  return Meta{.boot_id = std::string(use.bytes(0)),
              .epoch = use.integer(1),
              .ceiling = static_cast<std::uint64_t>(std::max<std::int64_t>(use.integer(2), 0))};
}

}  // namespace holdfast::engines::sqlite::internal
