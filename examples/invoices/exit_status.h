#pragma once

// What the program ends with; the numbers are those of sysexits.h where it has one.
namespace invoices {

inline constexpr int kStored = 0;  // or: not a duplicate
inline constexpr int kDuplicate = 1;
inline constexpr int kUsage = 64;        // what was asked for can never be
inline constexpr int kUnavailable = 69;  // the lock store or the table
inline constexpr int kFailed = 70;
inline constexpr int kTryAgain = 75;  // concurrent, or being processed

}  // namespace invoices
