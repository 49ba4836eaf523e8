#include <holdfast/engines/postgresql/internal/schema.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <holdfast/engines/postgresql/internal/sql.h>
#include <holdfast/engines/postgresql/internal/sql_states.h>

namespace holdfast::engines::postgresql::internal {

namespace {

using Kind = Trouble::Kind;

// With its own quotes doubled.
std::string quote(std::string_view text, char mark) {
  std::string quoted(1, mark);
  for (const char c : text) {
    quoted.append(c == mark ? 2 : 1, c);
  }
  return quoted + mark;
}

using Values = std::map<std::string_view, std::string>;

// Returns the text with each `{name}` replaced by its value; braces around anything else stay.
std::string filled_in(std::string_view text, const Values& values) {
  std::string result;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    const std::size_t close = text.find('}', open);
    result.append(text.substr(0, open));
    text.remove_prefix(open);
    if (text.empty()) {
      break;
    }
    const auto value = close == std::string_view::npos
                           ? values.end()
                           : values.find(text.substr(1, close - open - 1));
    if (value == values.end()) {
      result.push_back('{');
      text.remove_prefix(1);
    } else {
      result.append(value->second);
      text.remove_prefix(close - open + 1);
    }
  }
  return result;
}

// The version that the comment on the table of records says; 0 if it says none.
int version_of(std::string_view comment) {
  constexpr std::string_view kBeginning = "Holdfast ";
  int version = 0;
  if (comment.starts_with(kBeginning)) {
    comment.remove_prefix(kBeginning.size());
    std::from_chars(comment.data(), comment.data() + comment.size(), version);
  }
  return version;
}

// Only one at a time makes the schema, and sees what the one before has made, whatever isolation is
// the server's default. The number has no meaning but that we use no other.
constexpr std::string_view kOneAtATime =
    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\n"
    "SELECT pg_advisory_xact_lock(5219737498467155489);\n";

}  // namespace

Schema::Schema(const PostgresOptions& options)
    : name_(options.schema),
      quoted_(quote(options.schema, '"')),
      records_(quoted_ + ".records"),
      commits_without_waiting_(options.commit == PostgresOptions::Commit::off),
      creation_(std::string(kOneAtATime) + filled(sql::kTables) + filled(sql::kRecords) +
                filled(sql::kQueue) + filled(sql::kClaim) + filled(sql::kRenew) +
                filled(sql::kTransfer) + filled(sql::kRelease) + filled(sql::kLook) +
                filled(sql::kHit) + filled(sql::kAssertHeld) + filled(sql::kObjects) +
                filled(sql::kVersion)),
      statements_{.hello = statement("hello", sql::kHello),
                  .claim = statement("claim", sql::kDoClaim),
                  .renew = statement("renew", sql::kDoRenew),
                  .transfer = statement("transfer", sql::kDoTransfer),
                  .release = statement("release", sql::kDoRelease),
                  .look = statement("look", sql::kDoLook),
                  .list = statement("list", sql::kDoList),
                  .hit = statement("hit", sql::kDoHit),
                  .watch = statement("watch", sql::kDoWatch),
                  .pass_on = statement("pass_on", sql::kDoPassOn),
                  .load = statement("load", sql::kDoLoad),
                  .save = statement("save", sql::kDoSave),
                  .erase = statement("erase", sql::kDoErase),
                  .list_objects = statement("list_objects", sql::kDoListObjects),
                  .diagnose = statement("diagnose", sql::kDiagnose)} {}

std::string Schema::filled(std::string_view text) const {
  return filled_in(text, {{"commit", commits_without_waiting_ ? sql::kCommitOff : ""},
                          {"version", std::to_string(kVersion)},
                          {"records_text", quote(records_, '\'')},
                          {"objects_text", quote(quoted_ + ".objects", '\'')},
                          {"answer_text", quote(quoted_ + ".answer", '\'')},
                          {"schema_text", quote(name_, '\'')},
                          {"schema", quoted_}});
}

Statement Schema::statement(std::string_view name, std::string_view sql) const {
  return {.name = "holdfast_" + std::string(name), .sql = filled(sql)};
}

std::string Schema::listen(std::int64_t store) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), store, 16).ptr;
  return filled_in(sql::kListen, {{"channel", std::string(digits.begin(), end)},
                                  {"store", std::to_string(store)}});
}

Trouble Schema::may_not_create(const Trouble& trouble, const std::string& user) const {
  return {.kind = Kind::refused,
          .state = std::string(sql_state::kMayNotCreate),
          .message = "the server has no schema " + quoted_ +
                     " of this version, and the user may not "
                     "make it (" +
                     trouble.message +
                     "): let the owner of the database run CREATE "
                     "SCHEMA " +
                     quoted_ + " AUTHORIZATION " + quote(user, '"') +
                     ", or what 'holdfast schema postgresql' prints"};
}

Connection::Outcome<void> Schema::ensure(Connection& connection,
                                         const Connection::Greeting& greeting,
                                         base::Deadline deadline) const {
  const int version = version_of(greeting.schema);
  if (version == kVersion) [[likely]] {
    return {};
  }
  if (version > kVersion) {
    return std::unexpected(Trouble{.kind = Kind::refused,
                                   .state = std::string(sql_state::kNewerSchema),
                                   .message = "the schema " + quoted_ +
                                              " was made by a newer Holdfast: its version is " +
                                              std::to_string(version)});
  }
  auto made = connection.run_all(creation_, deadline);
  if (!made && made.error().state == sql_state::kInsufficientPrivilege) {
    return std::unexpected(may_not_create(made.error(), greeting.user));
  }
  return made;
}

}  // namespace holdfast::engines::postgresql::internal
