#include <holdfast/engines/postgresql/internal/check_options.h>

#include <string>

namespace holdfast::engines::postgresql::internal {

namespace {

// PostgreSQL cuts a longer identifier off.
constexpr std::size_t kMaxIdentifier = 63;
// A name with its prefix has to fit into an entry of an index.
constexpr std::size_t kMaxPrefix = 1024;

std::string problem_of(const PostgresOptions& options) {
  if (options.schema.empty() || options.schema.size() > kMaxIdentifier ||
      options.schema.contains('\0') || options.schema.starts_with("pg_")) {
    return "the schema's name is empty, longer than 63 bytes, has a zero byte in it, or begins "
           "with pg_";
  }
  if (options.prefix.size() > kMaxPrefix) {
    return "the prefix is longer than 1,024 bytes";
  }
  if (options.retention < std::chrono::seconds(1)) {
    return "the retention is shorter than a second";
  }
  if (options.connect_timeout <= base::Duration::zero() ||
      options.reply_timeout <= base::Duration::zero()) {
    return "a time-out is not longer than nothing";
  }
  if (options.max_connections == 0) {
    return "max_connections is 0: nothing could ever be asked";
  }
  return "";
}

}  // namespace

base::Result<void> check_options(const PostgresOptions& options) {
  if (std::string problem = problem_of(options); !problem.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, std::move(problem));
  }
  return {};
}

}  // namespace holdfast::engines::postgresql::internal
