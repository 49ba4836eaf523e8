#pragma once

#include <holdfast/testing/engine_under_test.h>

namespace holdfast::testing {

// What the recipes must do on top of an engine, as GoogleTest cases named
// `<suite>.<engine>.<Sentence>`. Call them before RUN_ALL_TESTS(), beside register_store_suite();
// the last one calls all others.
void register_reader_writer_suite(const EngineUnderTest& engine);
void register_semaphore_suite(const EngineUnderTest& engine);
void register_multi_lock_suite(const EngineUnderTest& engine);
void register_throttle_suite(const EngineUnderTest& engine);
void register_leader_election_suite(const EngineUnderTest& engine);
void register_once_suite(const EngineUnderTest& engine);

void register_recipe_suites(const EngineUnderTest& engine);

}  // namespace holdfast::testing
