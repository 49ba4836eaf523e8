#pragma once

#include <holdfast/testing/engine_under_test.h>

namespace holdfast::testing {

// What LockProvider and Lock must do on top of an engine, as GoogleTest cases named
// `locks.<engine>.<Sentence>`. Call it before RUN_ALL_TESTS(), beside register_store_suite().
void register_provider_suite(const EngineUnderTest& engine);

}  // namespace holdfast::testing
