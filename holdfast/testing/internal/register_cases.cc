#include <holdfast/testing/internal/register_cases.h>

#include <functional>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast::testing::internal {

namespace {

class Conformance : public ::testing::Test {
 public:
  Conformance(const EngineUnderTest& engine, CaseTime time, std::function<void(Place)> body)
      : engine_(engine), time_(time), body_(std::move(body)) {}

  void TestBody() override {
    auto place = place_for(engine_, time_);
    if (!place) {
      GTEST_SKIP() << "the engine has no place on which real time passes";
    }
    body_(*std::move(place));
  }

 private:
  const EngineUnderTest engine_;
  const CaseTime time_;
  const std::function<void(Place)> body_;
};

}  // namespace

void register_cases(const std::string& suite, const EngineUnderTest& engine, const Face& face,
                    std::span<const LockCase> cases) {
  for (const LockCase& each : cases) {
    const auto body = [=](Place place) {
      LockRun run(engine, face, std::move(place));
      each.run(run);
    };
    ::testing::RegisterTest(
        (suite + "." + engine.name).c_str(), each.name, nullptr, nullptr, __FILE__, __LINE__,
        [=]() -> ::testing::Test* { return new Conformance(engine, each.time, body); });
  }
}

}  // namespace holdfast::testing::internal
