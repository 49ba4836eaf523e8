#include <holdfast/testing/store_suite.h>

#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing {

namespace {

class StoreConformance : public ::testing::Test {
 public:
  StoreConformance(const EngineUnderTest& engine, const internal::StoreCase& which)
      : engine_(engine), case_(which) {}

  void TestBody() override {
    internal::StoreRun run(engine_);
    case_.run(run);
  }

 private:
  const EngineUnderTest engine_;
  const internal::StoreCase case_;
};

}  // namespace

void register_store_suite(const EngineUnderTest& engine) {
  using namespace internal;
  const std::string suite = "store." + engine.name;
  for (const auto theme : {claim_cases, token_cases, renewal_cases, transfer_cases, release_cases,
                           look_cases, list_cases, permit_cases, hit_cases, holding_back_cases,
                           watch_cases, name_cases, kind_cases, random_history_cases}) {
    for (const StoreCase& each : theme()) {
      ::testing::RegisterTest(
          suite.c_str(), each.name, nullptr, nullptr, __FILE__, __LINE__,
          [=]() -> ::testing::Test* { return new StoreConformance(engine, each); });
    }
  }
}

}  // namespace holdfast::testing
