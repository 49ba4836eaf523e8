#include <holdfast/engines/mongodb/internal/trouble.h>

#include <algorithm>
#include <array>
#include <string_view>

#include <mongoc/mongoc.h>

#include <holdfast/base/printable.h>
#include <holdfast/engines/mongodb/internal/server_codes.h>

namespace holdfast::engines::mongodb::internal {

namespace {

using base::ErrorCode;
using Kind = Trouble::Kind;

// The server says that it is not the primary, before it does anything; and that another upsert of
// the same document came first.
constexpr std::array kNotDone{kNotWritablePrimary, kNotPrimaryNoSecondaryOk, kNotPrimaryOrSecondary,
                              kLegacyNotPrimary, kDuplicateKey};
// It stops, steps down, or loses another on the way, its time limit is over, not enough servers
// have confirmed, or a router finds no primary, perhaps after it has lost one: what it had begun
// may be there or not.
constexpr std::array kUnknown{kHostUnreachable,
                              kHostNotFound,
                              kMaxTimeMsExpired,
                              kWriteConcernTimeout,
                              kNetworkTimeout,
                              kShutdownInProgress,
                              kUnsatisfiableWriteConcern,
                              kWriteConflict,
                              kFailedToSatisfyReadPreference,
                              kPrimarySteppedDown,
                              kExceededTimeLimit,
                              kSocketException,
                              kInterruptedAtShutdown,
                              kInterruptedDueToReplStateChange};

bool contains(const auto& codes, int code) { return std::ranges::find(codes, code) != codes.end(); }

Kind kind_of_code(int code) {
  if (contains(kNotDone, code)) {
    return Kind::not_done;
  }
  return contains(kUnknown, code) ? Kind::unknown : Kind::refused;
}

// Returns whether the driver could not send anything.
bool is_before_sending(const bson_error_t& error) {
  if (error.domain == MONGOC_ERROR_SERVER_SELECTION) {
    return true;
  }
  return error.domain == MONGOC_ERROR_STREAM && (error.code == MONGOC_ERROR_STREAM_CONNECT ||
                                                 error.code == MONGOC_ERROR_STREAM_NAME_RESOLUTION);
}

struct Meaning {
  int code;
  ErrorCode error;
  std::string_view what;
};

constexpr std::array kMeanings{
    Meaning{Trouble::kTooLong, ErrorCode::corrupt,
            "the server sends more than 64 MiB in one answer: check that it is a MongoDB server"},
    Meaning{kUnauthorized, ErrorCode::unavailable,
            "the user may not do this: allow it to read and write the collection"},
    Meaning{kAuthenticationFailed, ErrorCode::unavailable,
            "the server does not accept the login: check user, password "
            "and authSource"},
    Meaning{kCommandNotFound, ErrorCode::unsupported,
            "the server does not know a command: it must be MongoDB 4.2 "
            "or later"},
    Meaning{kUnrecognizedPipelineStage, ErrorCode::unsupported,
            "the server does not know updates by pipelines: it must be "
            "MongoDB 4.2 or later"},
    Meaning{kUnknownReplWriteConcern, ErrorCode::invalid_argument,
            "the server has no such write concern"},
    Meaning{kAtlasError, ErrorCode::unavailable, "the server does not accept the login"},
};

}  // namespace

Trouble trouble_of(const bson_error_t& error, const Bson& reply) {
  const int code = static_cast<int>(error.code);
  Trouble trouble{.message = base::printable(error.message)};
  if (is_before_sending(error)) {
    trouble.kind = Kind::not_done;
    trouble.connection_is_bad = true;
  } else if (error.domain == MONGOC_ERROR_SERVER || reply.find("code") ||
             reply.find("writeConcernError")) {
    trouble.code = code;
    // With a write concern error comes the answer of a command that was done.
    trouble.kind = reply.find("writeConcernError") ? Kind::unknown : kind_of_code(code);
    trouble.connection_is_bad =
        trouble.kind != Kind::refused && code != kDuplicateKey && code != kWriteConcernTimeout;
  } else if (error.domain == MONGOC_ERROR_STREAM || error.domain == MONGOC_ERROR_PROTOCOL) {
    trouble.kind = Kind::unknown;
    trouble.connection_is_bad = true;
  } else if (error.domain == MONGOC_ERROR_CLIENT || error.domain == MONGOC_ERROR_SASL ||
             error.domain == MONGOC_ERROR_SCRAM) {
    trouble.code = kAuthenticationFailed;
    trouble.connection_is_bad = true;
  }
  return trouble;
}

base::Error error_of(const Trouble& trouble) {
  for (const Meaning& meaning : kMeanings) {
    if (meaning.code == trouble.code) {
      return {meaning.error, std::string(meaning.what) + " (" + trouble.message + ")"};
    }
  }
  return {ErrorCode::internal, "the server refuses a command: " + trouble.message};
}

}  // namespace holdfast::engines::mongodb::internal
