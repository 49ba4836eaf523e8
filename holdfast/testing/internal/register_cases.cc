#include <holdfast/testing/internal/register_cases.h>

#include <gtest/gtest.h>

namespace holdfast::testing::internal {

namespace {

class ProviderConformance : public ::testing::Test {
 public:
  ProviderConformance(const EngineUnderTest& engine, const ProviderCase& which)
      : engine_(engine), case_(which) {}

  void TestBody() override {
    const auto place = place_for(engine_, case_.time);
    if (!place) {
      GTEST_SKIP() << "the engine has no place on which real time passes";
    }
    ProviderRun run(engine_, *place);
    case_.run(run);
  }

 private:
  const EngineUnderTest engine_;
  const ProviderCase case_;
};

}  // namespace

void register_cases(const std::string& suite, const EngineUnderTest& engine,
                    std::span<const ProviderCase> cases) {
  for (const ProviderCase& each : cases) {
    ::testing::RegisterTest(
        suite.c_str(), each.name, nullptr, nullptr, __FILE__, __LINE__,
        [=]() -> ::testing::Test* { return new ProviderConformance(engine, each); });
  }
}

}  // namespace holdfast::testing::internal
