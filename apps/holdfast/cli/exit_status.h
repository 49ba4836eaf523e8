#pragma once

#include <functional>

#include <holdfast/base/error.h>

// The status that the program ends with; see "EXIT STATUS" in holdfast.1. The numbers are those of
// sysexits.h where it has one, and those of the shell for commands.
namespace holdfast::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;          // a check of `doctor` failed; `marked`: it is not
inline constexpr int kUsage = 64;           // what was asked for can never be
inline constexpr int kUnavailable = 69;     // the store cannot be reached or used
inline constexpr int kInternal = 70;        // a defect in Holdfast
inline constexpr int kOutput = 74;          // the output could not be written
inline constexpr int kBusy = 75;            // held by another, and not free in time
inline constexpr int kLost = 79;            // the lease was, or is, not ours any more
inline constexpr int kNotExecutable = 126;  // the command was found but cannot be executed
inline constexpr int kNotFound = 127;       // the command was not found
inline constexpr int kSignalled = 128;      // plus the number of the signal

[[nodiscard]] int exit_status(base::ErrorCode code) noexcept;

// Calls `work` and returns what it returns. If it throws, reports that and returns what to end
// with.
[[nodiscard]] int status_of_work(const std::function<int()>& work);

}  // namespace holdfast::cli
