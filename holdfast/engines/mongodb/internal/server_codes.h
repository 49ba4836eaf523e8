#pragma once

namespace holdfast::engines::mongodb::internal {

// The codes of a server's errors that mean something to Holdfast, by the names in the server's own
// error_codes.yml.
inline constexpr int kHostUnreachable = 6;
inline constexpr int kHostNotFound = 7;
inline constexpr int kUnauthorized = 13;
inline constexpr int kAuthenticationFailed = 18;
inline constexpr int kMaxTimeMsExpired = 50;
inline constexpr int kCommandNotFound = 59;
inline constexpr int kWriteConcernTimeout = 64;
inline constexpr int kUnknownReplWriteConcern = 79;
inline constexpr int kIndexOptionsConflict = 85;
inline constexpr int kIndexKeySpecsConflict = 86;
inline constexpr int kNetworkTimeout = 89;
inline constexpr int kShutdownInProgress = 91;
inline constexpr int kUnsatisfiableWriteConcern = 100;
inline constexpr int kWriteConflict = 112;
inline constexpr int kFailedToSatisfyReadPreference = 133;
inline constexpr int kPrimarySteppedDown = 189;
inline constexpr int kExceededTimeLimit = 262;
inline constexpr int kAtlasError = 8000;
inline constexpr int kSocketException = 9001;
inline constexpr int kLegacyNotPrimary = 10058;
inline constexpr int kNotWritablePrimary = 10107;
inline constexpr int kDuplicateKey = 11000;
inline constexpr int kInterruptedAtShutdown = 11600;
inline constexpr int kInterruptedDueToReplStateChange = 11602;
inline constexpr int kNotPrimaryNoSecondaryOk = 13435;
inline constexpr int kNotPrimaryOrSecondary = 13436;
inline constexpr int kUnrecognizedPipelineStage = 40324;

}  // namespace holdfast::engines::mongodb::internal
