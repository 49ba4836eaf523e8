#pragma once

#include <cstdint>

namespace holdfast::base {

// 64 unpredictable bits from the kernel, without a system call each.
//
// Thread-safe; not for signal handlers. Buffered per thread; a forked child never sees what its
// parent had buffered, however it was forked. Not guaranteed: two copies of one running machine,
// cloned from a snapshot, may draw the same bits.
// Throws std::system_error where the kernel gives no random bytes.
std::uint64_t random_u64();

}  // namespace holdfast::base
