#pragma once

#include <string_view>

// The SQLSTATEs that mean something to Holdfast, by the names of PostgreSQL's manual (appendix A).
namespace holdfast::engines::postgresql::internal::sql_state {

using State = std::string_view;

// Classes: the states that begin so.
inline constexpr State kConnectionException = "08";
inline constexpr State kInvalidAuthorization = "28";
inline constexpr State kInvalidCatalogName = "3D";
inline constexpr State kInsufficientResources = "53";
inline constexpr State kSystemError = "58";

inline constexpr State kNumericValueOutOfRange = "22003";
inline constexpr State kReadOnlyTransaction = "25006";
inline constexpr State kInvalidStatementName = "26000";
inline constexpr State kInvalidSchemaName = "3F000";
inline constexpr State kSerializationFailure = "40001";
inline constexpr State kStatementCompletionUnknown = "40003";
inline constexpr State kDeadlockDetected = "40P01";
inline constexpr State kInsufficientPrivilege = "42501";
inline constexpr State kUndefinedObject = "42704";
inline constexpr State kUndefinedFunction = "42883";
inline constexpr State kUndefinedTable = "42P01";
inline constexpr State kDuplicatePreparedStatement = "42P05";
inline constexpr State kTooManyConnections = "53300";
inline constexpr State kObjectInUse = "55006";
inline constexpr State kLockNotAvailable = "55P03";
inline constexpr State kQueryCanceled = "57014";
inline constexpr State kAdminShutdown = "57P01";
inline constexpr State kCrashShutdown = "57P02";
inline constexpr State kCannotConnectNow = "57P03";
inline constexpr State kDatabaseDropped = "57P04";
inline constexpr State kIdleSessionTimeout = "57P05";

// Our own: those of the SQL functions (`LK002`, a stale token, is for assert_held's callers alone),
// and those that this engine reports itself.
inline constexpr State kCorrupt = "LK001";
inline constexpr State kNewerSchema = "LK003";
inline constexpr State kMayNotCreate = "LK004";

}  // namespace holdfast::engines::postgresql::internal::sql_state
