#pragma once

#include <holdfast/testing/repository_under_test.h>

namespace holdfast::testing {

// Registers the requirements of every ObjectRepository, as GoogleTest cases named
// `repository.<engine>.<Sentence>`. Call it before RUN_ALL_TESTS():
//
//   int main(int argc, char** argv) {
//     ::testing::InitGoogleTest(&argc, argv);
//     holdfast::testing::register_repository_suite(my_repository());
//     return RUN_ALL_TESTS();
//   }
void register_repository_suite(const RepositoryUnderTest& engine);

}  // namespace holdfast::testing
