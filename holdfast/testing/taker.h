#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::testing {

using OpenStore =
    std::function<base::Result<std::shared_ptr<store::LeaseStore>>(std::string_view url)>;

// The main() of a taker: the program that the cases with several processes start and order about.
// It acquires a name and then does what it is told, one line for each order and one for each
// answer.
//
//   TAKER URL NAME [--ttl MS] [--wait MS]    says `acquired TOKEN`, `busy`, or `failed CODE`
//     check      says `held`, `lost` or `not_held`
//     release    says `released`, `not_held` or `failed CODE`
//     abandon    exits at once and releases nothing
//     quit       (or the end of its input) gives the lock back and exits
//   TAKER URL NAME --count FILE --waiters N  adds 1 to the number in FILE, N times in parallel,
//   each
//                                            time holding the name; says `counted` or `failed CODE`
//
// A taker for an engine of one's own is one line:
//
//   int main(int argc, char** argv) { return holdfast::testing::taker_main(argc, argv, &open); }
int taker_main(int argc, char** argv, const OpenStore& open);

}  // namespace holdfast::testing
