// Runs the conformance suites against every engine.
#include <gtest/gtest.h>

#include <holdfast/testing/degradation_suite.h>
#include <holdfast/testing/marker_suite.h>
#include <holdfast/testing/provider_suite.h>
#include <holdfast/testing/recipe_suites.h>
#include <holdfast/testing/repository_suite.h>
#include <holdfast/testing/store_suite.h>

#include "async_face.h"
#include "engines.h"
#include "repositories.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  using namespace holdfast::conformance;
  for (const auto& engine :
       {memory_engine(), sqlite_engine(), redis_engine(), redis_engine_in_real_time(),
        mongodb_engine(), postgresql_engine(), postgresql_engine_through_pgbouncer()}) {
    holdfast::testing::register_store_suite(engine);
    holdfast::testing::register_provider_suite(engine);
    holdfast::testing::register_provider_suite(engine, async_face());
    for (const auto& face : {holdfast::testing::blocking_face(), async_face()}) {
      // The expiry of keys on Redis has nothing to do with the face.
      if (face.name == "async" && engine.name == redis_engine_in_real_time().name) {
        continue;
      }
      holdfast::testing::register_marker_suite(engine, face);
      holdfast::testing::register_degradation_suite(engine, face);
      holdfast::testing::register_recipe_suites(engine, face);
    }
  }
  // Only the store has to know the master: a part of the recipes stands for all.
  holdfast::testing::register_store_suite(redis_engine_by_sentinel());
  holdfast::testing::register_provider_suite(redis_engine_by_sentinel());
  holdfast::testing::register_provider_suite(redis_engine_by_sentinel(), async_face());
  holdfast::testing::register_reader_writer_suite(redis_engine_by_sentinel());
  holdfast::testing::register_leader_election_suite(redis_engine_by_sentinel());
  // The other suites could find nothing more there: the clock of the server is seen by the store
  // alone.
  holdfast::testing::register_store_suite(mongodb_engine_in_real_time());
  holdfast::testing::register_store_suite(postgresql_engine_in_real_time());
  holdfast::testing::register_store_suite(postgresql_store_through_pgbouncer());
  for (const auto& repository : all_repositories()) {
    holdfast::testing::register_repository_suite(repository);
    register_repository_differential(repository);
  }
  return RUN_ALL_TESTS();
}
