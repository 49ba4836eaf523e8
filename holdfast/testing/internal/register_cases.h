#pragma once

#include <span>
#include <string>

#include <holdfast/testing/engine_under_test.h>
#include <holdfast/testing/internal/lock_run.h>
#include <holdfast/testing/internal/provider_run.h>

namespace holdfast::testing::internal {

// Registers each case as a GoogleTest case `<suite>.<Sentence>` with its own place.
void register_cases(const std::string& suite, const EngineUnderTest& engine,
                    std::span<const ProviderCase> cases);
// Registers the same over a face: `<face>.<engine>.<Sentence>`.
void register_cases(const Face& face, const EngineUnderTest& engine,
                    std::span<const LockCase> cases);

}  // namespace holdfast::testing::internal
