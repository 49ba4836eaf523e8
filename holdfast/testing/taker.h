#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::testing {

using OpenStore =
    std::function<base::Result<std::shared_ptr<store::LeaseStore>>(std::string_view url)>;

// The main() of a taker: the program that the cases with several processes start and control. It
// acquires a name and then executes commands, one line for each command and one for each answer.
//
//   TAKER URL NAME [--ttl MS] [--wait MS]    prints `acquired TOKEN`, `busy`, or `failed CODE`
//     check      prints `held`, `lost` or `not_held`
//     release    prints `released`, `not_held` or `failed CODE`
//     abandon    exits at once and releases nothing
//     quit       (or the end of its input) releases the lock and exits
//   TAKER URL NAME --count FILE --waiters N  adds 1 to the number in FILE, N times in parallel,
//                                            holding the name each time; prints `counted` or
//                                            `failed CODE`
//
// A taker for your own engine is one line:
//
//   int main(int argc, char** argv) { return holdfast::testing::taker_main(argc, argv, &open); }
int taker_main(int argc, char** argv, const OpenStore& open);

}  // namespace holdfast::testing
