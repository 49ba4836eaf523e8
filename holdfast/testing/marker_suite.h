#pragma once

#include <holdfast/testing/engine_under_test.h>

namespace holdfast::testing {

// What recipes::Marker must do on top of an engine, as GoogleTest cases named
// `marker.<engine>.<Sentence>`. Call it before RUN_ALL_TESTS(), beside register_store_suite().
void register_marker_suite(const EngineUnderTest& engine);

}  // namespace holdfast::testing
