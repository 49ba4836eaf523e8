#pragma once

// The program's exit statuses; the numbers are those of sysexits.h where it has one.
namespace invoices {

inline constexpr int kStored = 0;  // or: not a duplicate
inline constexpr int kDuplicate = 1;
inline constexpr int kNotProcessing = 1;
inline constexpr int kUsage = 64;        // bad input
inline constexpr int kUnavailable = 69;  // the lock store or the table cannot be used
inline constexpr int kFailed = 70;
inline constexpr int kTryAgain = 75;  // concurrent, or being processed

}  // namespace invoices
