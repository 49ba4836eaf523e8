#include <holdfast/testing/degradation_suite.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>
#include <holdfast/testing/internal/register_cases.h>

namespace holdfast::testing {

void register_degradation_suite(const EngineUnderTest& engine, const Face& face) {
  using namespace internal;
  for (const auto theme : {outage_cases, recovery_cases, breaker_cases}) {
    register_cases(face.recipes + "degradation", engine, face, theme());
  }
}

}  // namespace holdfast::testing
