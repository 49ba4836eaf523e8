#pragma once

#include <holdfast/testing/engine_under_test.h>
#include <holdfast/testing/provider_face.h>

namespace holdfast::testing {

// Register the requirements of the recipes on an engine, as GoogleTest cases named
// `<Face::recipes><suite>.<engine>.<Sentence>`. Call them before RUN_ALL_TESTS(), next to
// register_store_suite(); the last one calls all others.
void register_reader_writer_suite(const EngineUnderTest& engine,
                                  const Face& face = blocking_face());
void register_semaphore_suite(const EngineUnderTest& engine, const Face& face = blocking_face());
void register_multi_lock_suite(const EngineUnderTest& engine, const Face& face = blocking_face());
void register_throttle_suite(const EngineUnderTest& engine, const Face& face = blocking_face());
void register_leader_election_suite(const EngineUnderTest& engine,
                                    const Face& face = blocking_face());
void register_once_suite(const EngineUnderTest& engine, const Face& face = blocking_face());

void register_recipe_suites(const EngineUnderTest& engine, const Face& face = blocking_face());

}  // namespace holdfast::testing
