#include <string>

#include <holdfast/engines/postgresql/postgres_schema.h>
#include <holdfast/engines/postgresql/postgres_url.h>

#include "apps/holdfast/cli/exit_status.h"
#include "apps/holdfast/cli/output.h"
#include "apps/holdfast/commands.h"

namespace holdfast::cli::commands {

namespace {

constexpr Help kHelp{
    .command = "holdfast schema",
    .usage = "[OPTIONS] STORE",
    .about =
        "Print the SQL that creates the tables and functions of a store, for an administrator to\n"
        "run where the users of the store may not. STORE is postgresql, or a URL whose option\n"
        "schema names another schema. Nothing is changed, and no server is asked.\n",
    .examples =
        "  holdfast schema postgresql | psql app\n"
        "  holdfast schema 'postgresql://?schema=locks' > locks.sql"};

}  // namespace

int schema(const Invocation& call) {
  GlobalOptions global = call.global;
  std::string store;
  CommandLine line(kHelp);
  line.positional("STORE", "postgresql, or a URL", into(store), Presence::required);
  global.declare(line);
  if (const auto status = line.parse(call.arguments)) {
    return *status;
  }
  const auto options = engines::postgresql::parse_postgres_url(
      store == "postgresql" || store == "postgres" ? "postgresql://" : store);
  if (!options) {
    return line.mistake(options.error().message);
  }
  const auto sql = engines::postgresql::schema_sql(*options);
  if (!sql) {
    return line.mistake(sql.error().message);
  }
  write_output(*sql);
  return kSuccess;
}

}  // namespace holdfast::cli::commands
