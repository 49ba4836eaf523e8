#pragma once

#include <holdfast/testing/engine_under_test.h>

namespace holdfast::testing {

// Registers the requirements of every LeaseStore, as GoogleTest cases named
// `store.<engine>.<Sentence>`. Call it before RUN_ALL_TESTS():
//
//   int main(int argc, char** argv) {
//     ::testing::InitGoogleTest(&argc, argv);
//     holdfast::testing::register_store_suite(my_engine());
//     return RUN_ALL_TESTS();
//   }
void register_store_suite(const EngineUnderTest& engine);

}  // namespace holdfast::testing
