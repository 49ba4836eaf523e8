#include <holdfast/testing/marker_suite.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>
#include <holdfast/testing/internal/register_cases.h>

namespace holdfast::testing {

void register_marker_suite(const EngineUnderTest& engine, const Face& face) {
  using namespace internal;
  for (const auto theme : {mark_cases, mark_guard_cases, mark_fault_cases}) {
    register_cases(face.recipes + "marker", engine, face, theme());
  }
}

}  // namespace holdfast::testing
