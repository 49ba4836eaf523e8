#include <holdfast/engines/sqlite/internal/shared_connection.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>

namespace holdfast::engines::sqlite::internal {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::Result;

Result<std::unique_ptr<SharedConnection>> SharedConnection::open(const SqliteOptions& options,
                                                                 Access access) {
  HOLDFAST_TRY_LET(const std::filesystem::path resolved, resolve(options.file));
  HOLDFAST_TRY_LET(OpenFile open_file, OpenFile::enter(resolved.native()));
  if (options.mode) {
    HOLDFAST_TRY(make_file(resolved, *options.mode));
  }
  HOLDFAST_TRY_LET(
      std::unique_ptr<Connection> connection,
      open_database(resolved, access, Deadline::after(base::steady_clock(), options.busy_timeout)));
  return std::unique_ptr<SharedConnection>(
      new SharedConnection(options.busy_timeout, std::move(open_file), std::move(connection)));
}

SharedConnection::SharedConnection(base::Duration busy_timeout, OpenFile open_file,
                                   std::unique_ptr<Connection> connection)
    : busy_timeout_(busy_timeout),
      open_file_(std::move(open_file)),
      connection_(std::move(connection)),
      transactions_(*connection_) {}

Result<void> SharedConnection::check_ours() const {
  if (!is_ours()) [[unlikely]] {
    return fail(ErrorCode::unsupported,
                "the store was opened before this process was forked: it belongs to the parent");
  }
  return {};
}

Result<SharedConnection::Session> SharedConnection::enter(Deadline deadline) {
  if (auto ours = check_ours(); !ours) [[unlikely]] {
    return std::unexpected(std::move(ours).error());
  }
  const base::TimePoint now = base::steady_clock().now();
  if (deadline.is_never()) {
    deadline = Deadline::at(base::add_saturating(now, busy_timeout_));
  }
  if (deadline.expired(now) || !turn_.enter(deadline)) [[unlikely]] {
    return fail(ErrorCode::unavailable, "the deadline passed before the file " +
                                            base::printable(connection_->file()) +
                                            " could be used: allow more time");
  }
  connection_->set_deadline(deadline);
  return Session(turn_);
}

}  // namespace holdfast::engines::sqlite::internal
