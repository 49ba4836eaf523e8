#include <holdfast/testing/repository_suite.h>

#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/repository_run.h>

namespace holdfast::testing {

namespace {

class RepositoryConformance : public ::testing::Test {
 public:
  RepositoryConformance(const RepositoryUnderTest& engine, const internal::RepositoryCase& which)
      : engine_(engine), case_(which) {}

  void TestBody() override {
    internal::RepositoryRun run(engine_, case_.place);
    case_.run(run);
  }

 private:
  const RepositoryUnderTest engine_;
  const internal::RepositoryCase case_;
};

}  // namespace

void register_repository_suite(const RepositoryUnderTest& engine) {
  using namespace internal;
  const std::string suite = "repository." + engine.name;
  for (const auto theme :
       {object_cases, object_token_cases, batch_cases, object_name_cases, id_list_cases,
        object_crowd_cases, durability_cases, repository_fault_cases}) {
    for (const RepositoryCase& each : theme()) {
      ::testing::RegisterTest(
          suite.c_str(), each.name, nullptr, nullptr, __FILE__, __LINE__,
          [=]() -> ::testing::Test* { return new RepositoryConformance(engine, each); });
    }
  }
}

}  // namespace holdfast::testing
