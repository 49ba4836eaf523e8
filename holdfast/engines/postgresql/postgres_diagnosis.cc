#include <holdfast/engines/postgresql/postgres_diagnosis.h>

#include <chrono>
#include <string_view>

#include <holdfast/base/try.h>
#include <holdfast/engines/postgresql/internal/check_options.h>
#include <holdfast/engines/postgresql/internal/judgement.h>
#include <holdfast/engines/postgresql/internal/pool.h>

namespace holdfast::engines::postgresql {

namespace {

using base::Result;
using std::chrono::microseconds;

microseconds wall_clock() {
  return std::chrono::duration_cast<microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

std::unexpected<base::Error> unanswered(const internal::Trouble& trouble) {
  if (trouble.kind == internal::Trouble::Kind::refused) {
    return std::unexpected(internal::error_of(trouble));
  }
  return base::fail(base::ErrorCode::unavailable,
                    "PostgreSQL cannot be reached: " + trouble.message);
}

}  // namespace

Result<std::vector<Finding>> diagnose(const PostgresOptions& options) {
  HOLDFAST_TRY(internal::check_options(options));
  HOLDFAST_TRY_LET(const auto pool, internal::Pool::open(options));
  const auto until = base::Deadline::after(base::steady_clock(), options.reply_timeout);
  const auto fresh = pool->connect(until);
  if (!fresh) {
    return unanswered(fresh.error());
  }
  const auto& schema = pool->schema();
  const microseconds before = wall_clock();
  const auto rows = fresh->connection->run(schema.statements().diagnose,
                                           internal::Parameters().bytes(schema.records()), until);
  const microseconds after = wall_clock();
  if (!rows) {
    return unanswered(rows.error());
  }
  const auto text = [&](int column) { return rows->bytes(0, column).value_or(""); };
  const auto number = [&](int column) { return rows->number(0, column).value_or(0); };
  return std::vector<Finding>{internal::judge_version(text(0), number(1)),
                              internal::judge_pooler(fresh->greeting.is_direct),
                              internal::judge_durability(text(2), text(3)),
                              internal::judge_commit(text(4), options.commit),
                              internal::judge_replication(number(10), text(5)),
                              internal::judge_vacuum(text(7), number(8), number(9)),
                              store::judge_clock(microseconds(number(6)) - (before + after) / 2)};
}

}  // namespace holdfast::engines::postgresql
