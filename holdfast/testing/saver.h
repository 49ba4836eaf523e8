#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::testing {

using OpenRepository =
    std::function<base::Result<std::shared_ptr<store::ObjectRepository>>(std::string_view url)>;

// The number of objects that a saver saves in one batch.
inline constexpr int kSavedTogether = 20;

// The main() of a saver: the program that the repository cases with several processes start, and
// kill in the middle of its work. It saves numbers from 1 on until it is killed, and prints `saved
// N` when N was confirmed as saved, or `failed CODE` and exits.
//
//   SAVER URL TYPE one_by_one    N as the data of the object N, with the token 1
//   SAVER URL TYPE together      N as the data of all objects from 0 to kSavedTogether - 1, all or
//                                none, with the token N
//
// A saver for your own engine is one line:
//
//   int main(int argc, char** argv) { return holdfast::testing::saver_main(argc, argv, &open); }
int saver_main(int argc, char** argv, const OpenRepository& open);

}  // namespace holdfast::testing
