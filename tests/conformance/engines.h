#pragma once

#include <holdfast/testing/engine_under_test.h>

namespace holdfast::conformance {

// The engines of this tree, one source each: `<engine>_engine.cc`.
testing::EngineUnderTest memory_engine();
testing::EngineUnderTest sqlite_engine();

}  // namespace holdfast::conformance
