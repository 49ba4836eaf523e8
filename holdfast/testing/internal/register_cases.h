#pragma once

#include <span>
#include <string>

#include <holdfast/testing/engine_under_test.h>
#include <holdfast/testing/internal/lock_run.h>
#include <holdfast/testing/provider_face.h>

namespace holdfast::testing::internal {

// Registers each case as a GoogleTest case `<suite>.<engine>.<Sentence>` with its own place, over a
// face.
void register_cases(const std::string& suite, const EngineUnderTest& engine, const Face& face,
                    std::span<const LockCase> cases);

}  // namespace holdfast::testing::internal
