#include <holdfast/engines/postgresql/internal/trouble.h>

#include <algorithm>
#include <array>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/engines/postgresql/internal/sql_states.h>

namespace holdfast::engines::postgresql::internal {

namespace {

using base::ErrorCode;
using Kind = Trouble::Kind;
using namespace sql_state;

// The errors of a transaction that has done nothing and may be tried again.
constexpr std::array kNotDone{kSerializationFailure, kDeadlockDetected,   kLockNotAvailable,
                              kCannotConnectNow,     kTooManyConnections, kReadOnlyTransaction,
                              kObjectInUse,          kIdleSessionTimeout};
// The server ends the connection, perhaps after it has committed.
constexpr std::array kUnknown{kAdminShutdown, kCrashShutdown, kDatabaseDropped,
                              kStatementCompletionUnknown};
// The connection is to a server, or as a user, that will not do.
constexpr std::array kBadConnection{kReadOnlyTransaction, kCannotConnectNow, kIdleSessionTimeout};

bool contains(const auto& states, std::string_view state) {
  return std::ranges::find(states, state) != states.end();
}

struct Meaning {
  std::string_view state;  // or how it begins
  ErrorCode error;
  std::string_view what;
};

constexpr std::array kMeanings{
    Meaning{kCorrupt, ErrorCode::corrupt, ""},
    Meaning{kNewerSchema, ErrorCode::unsupported, "upgrade this program, or choose another schema"},
    Meaning{kMayNotCreate, ErrorCode::unavailable, ""},
    Meaning{kInvalidAuthorization, ErrorCode::unavailable,
            "the server does not accept the login: check user, password and pg_hba.conf"},
    Meaning{kInvalidCatalogName, ErrorCode::unavailable,
            "the server has no such database: create it"},
    Meaning{kInsufficientPrivilege, ErrorCode::unavailable,
            "the user may not do this: let it use the schema, its tables and functions"},
    Meaning{kQueryCanceled, ErrorCode::unavailable,
            "the server cancelled the statement: raise its statement_timeout, or set it to 0"},
    Meaning{kInsufficientResources, ErrorCode::unavailable, "the server has no room"},
    Meaning{kSystemError, ErrorCode::unavailable, "the server has trouble with its files"},
    Meaning{kNumericValueOutOfRange, ErrorCode::corrupt,
            "a record has numbers that Holdfast has not written"},
};

}  // namespace

Trouble trouble_of(std::string_view state, std::string_view message) {
  Trouble trouble{.state = std::string(state), .message = base::printable(message)};
  if (contains(kNotDone, state)) {
    trouble.kind = Kind::not_done;
    trouble.connection_is_bad = contains(kBadConnection, state);
  } else if (contains(kUnknown, state) || state.starts_with(kConnectionException)) {
    trouble.kind = Kind::unknown;
    trouble.connection_is_bad = true;
  }
  return trouble;
}

bool lacks_schema(const Trouble& trouble) {
  return trouble.state == kInvalidSchemaName || trouble.state == kUndefinedTable ||
         trouble.state == kUndefinedFunction || trouble.state == kUndefinedObject;
}

base::Error error_of(const Trouble& trouble) {
  for (const Meaning& meaning : kMeanings) {
    if (trouble.state.starts_with(meaning.state)) {
      return {meaning.error, meaning.what.empty()
                                 ? trouble.message
                                 : std::string(meaning.what) + " (" + trouble.message + ")"};
    }
  }
  return {ErrorCode::internal,
          "the server refuses a statement: " + trouble.message +
              (trouble.state.empty() ? "" : " (SQLSTATE " + trouble.state + ")")};
}

}  // namespace holdfast::engines::postgresql::internal
