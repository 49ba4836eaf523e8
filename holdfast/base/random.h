#pragma once

#include <cstdint>

namespace holdfast::base {

// Returns 64 unpredictable bits from the kernel, without a system call each time.
//
// Thread-safe; not for signal handlers. Buffered per thread; a forked child never sees what its
// parent had buffered, however it was forked. Not guaranteed: two copies of one running machine,
// cloned from a snapshot, may draw the same bits.
// Throws std::system_error if the kernel returns no random bytes.
std::uint64_t random_u64();

// Returns a random number from 0 to 1, for jitter.
inline double random_fraction() { return static_cast<double>(random_u64() >> 11U) * 0x1.0p-53; }

}  // namespace holdfast::base
