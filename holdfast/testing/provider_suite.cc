#include <holdfast/testing/provider_suite.h>

#include <holdfast/testing/internal/register_cases.h>

namespace holdfast::testing {

void register_provider_suite(const EngineUnderTest& engine, const Face& face) {
  using namespace internal;
  for (const auto theme : {acquire_cases, wait_cases, crowd_cases, handle_cases, keeping_cases,
                           fault_cases, process_cases}) {
    register_cases(face.name, engine, face, theme());
  }
}

}  // namespace holdfast::testing
