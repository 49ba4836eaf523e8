#include <holdfast/engines/postgresql/internal/trouble.h>

#include <algorithm>
#include <array>
#include <utility>

#include <holdfast/base/printable.h>

namespace holdfast::engines::postgresql::internal {

namespace {

using base::ErrorCode;
using Kind = Trouble::Kind;

// The errors of a transaction that has done nothing and may be tried again: serialization failure,
// deadlock, a lock that was not available, a server that starts, has no connection left, or is a
// standby.
constexpr std::array<std::string_view, 8> kNotDone = {"40001", "40P01", "55P03", "57P03",
                                                      "53300", "25006", "55006", "57P05"};
// The server ends the connection, perhaps after it has committed.
constexpr std::array<std::string_view, 4> kUnknown = {"57P01", "57P02", "57P04", "40003"};
// The connection is to a server, or as a user, that will not do.
constexpr std::array<std::string_view, 3> kBadConnection = {"25006", "57P03", "57P05"};

bool contains(const auto& states, std::string_view state) {
  return std::ranges::find(states, state) != states.end();
}

struct Meaning {
  std::string_view state;  // or how it begins
  ErrorCode error;
  std::string_view what;
};

constexpr std::array kMeanings{
    Meaning{"LK001", ErrorCode::corrupt, ""},
    Meaning{kNewerSchema, ErrorCode::unsupported, "upgrade this program, or choose another schema"},
    Meaning{kMayNotCreate, ErrorCode::unavailable, ""},
    Meaning{"28", ErrorCode::unavailable,
            "the server does not accept the login: check user, password and pg_hba.conf"},
    Meaning{"3D", ErrorCode::unavailable, "the server has no such database: create it"},
    Meaning{"42501", ErrorCode::unavailable,
            "the user may not do this: let it use the schema, its tables and functions"},
    Meaning{"57014", ErrorCode::unavailable,
            "the server cancelled the statement: raise its statement_timeout, or set it to 0"},
    Meaning{"53", ErrorCode::unavailable, "the server has no room"},
    Meaning{"58", ErrorCode::unavailable, "the server has trouble with its files"},
    Meaning{"22003", ErrorCode::corrupt, "a record has numbers that Holdfast has not written"},
};

}  // namespace

Trouble trouble_of(std::string_view state, std::string_view message) {
  Trouble trouble{.state = std::string(state), .message = base::printable(message)};
  if (contains(kNotDone, state)) {
    trouble.kind = Kind::not_done;
    trouble.connection_is_bad = contains(kBadConnection, state);
  } else if (contains(kUnknown, state) || state.starts_with("08")) {
    trouble.kind = Kind::unknown;
    trouble.connection_is_bad = true;
  }
  return trouble;
}

bool lacks_schema(const Trouble& trouble) {
  // No schema, no table, no function, no type.
  return trouble.state == "3F000" || trouble.state == "42P01" || trouble.state == "42883" ||
         trouble.state == "42704";
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
