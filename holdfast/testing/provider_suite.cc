#include <holdfast/testing/provider_suite.h>

#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/provider_run.h>

namespace holdfast::testing {

namespace {

class ProviderConformance : public ::testing::Test {
 public:
  ProviderConformance(const EngineUnderTest& engine, const internal::ProviderCase& which)
      : engine_(engine), case_(which) {}

  void TestBody() override {
    const auto place = internal::place_for(engine_, case_.time);
    if (!place) {
      GTEST_SKIP() << "the engine has no place on which real time passes";
    }
    internal::ProviderRun run(engine_, *place);
    case_.run(run);
  }

 private:
  const EngineUnderTest engine_;
  const internal::ProviderCase case_;
};

}  // namespace

void register_provider_suite(const EngineUnderTest& engine) {
  using namespace internal;
  const std::string suite = "locks." + engine.name;
  for (const auto theme : {acquire_cases, wait_cases, crowd_cases, handle_cases, keeping_cases,
                           fault_cases, process_cases}) {
    for (const ProviderCase& each : theme()) {
      ::testing::RegisterTest(
          suite.c_str(), each.name, nullptr, nullptr, __FILE__, __LINE__,
          [=]() -> ::testing::Test* { return new ProviderConformance(engine, each); });
    }
  }
}

}  // namespace holdfast::testing
