#pragma once

#include <holdfast/testing/engine_under_test.h>
#include <holdfast/testing/provider_face.h>

namespace holdfast::testing {

// Registers the requirements of recipes::Marker on an engine, as GoogleTest cases named
// `<Face::recipes>marker.<engine>.<Sentence>`. Call it before RUN_ALL_TESTS(), next to
// register_store_suite().
void register_marker_suite(const EngineUnderTest& engine, const Face& face = blocking_face());

}  // namespace holdfast::testing
