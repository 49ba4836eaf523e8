#include <holdfast/testing/recipe_suites.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>
#include <holdfast/testing/internal/register_cases.h>

namespace holdfast::testing {

using namespace internal;

void register_reader_writer_suite(const EngineUnderTest& engine) {
  register_cases("reader_writer." + engine.name, engine, reader_writer_cases());
}

void register_semaphore_suite(const EngineUnderTest& engine) {
  register_cases("semaphore." + engine.name, engine, semaphore_cases());
}

void register_multi_lock_suite(const EngineUnderTest& engine) {
  register_cases("multi_lock." + engine.name, engine, multi_lock_cases());
}

void register_throttle_suite(const EngineUnderTest& engine) {
  register_cases("throttle." + engine.name, engine, throttle_cases());
}

void register_leader_election_suite(const EngineUnderTest& engine) {
  register_cases("leader_election." + engine.name, engine, leader_election_cases());
}

void register_once_suite(const EngineUnderTest& engine) {
  register_cases("once." + engine.name, engine, once_cases());
}

void register_recipe_suites(const EngineUnderTest& engine) {
  register_reader_writer_suite(engine);
  register_semaphore_suite(engine);
  register_multi_lock_suite(engine);
  register_throttle_suite(engine);
  register_leader_election_suite(engine);
  register_once_suite(engine);
}

}  // namespace holdfast::testing
