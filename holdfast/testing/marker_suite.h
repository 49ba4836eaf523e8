#pragma once

#include <holdfast/testing/engine_under_test.h>

namespace holdfast::testing {

// Registers the requirements of recipes::Marker on an engine, as GoogleTest cases named
// `marker.<engine>.<Sentence>`. Call it before RUN_ALL_TESTS(), next to register_store_suite().
void register_marker_suite(const EngineUnderTest& engine);

}  // namespace holdfast::testing
