#include <holdfast/testing/recipe_suites.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>
#include <holdfast/testing/internal/register_cases.h>

namespace holdfast::testing {

using namespace internal;

void register_reader_writer_suite(const EngineUnderTest& engine, const Face& face) {
  register_cases(face.recipes + "reader_writer", engine, face, reader_writer_cases());
}

void register_semaphore_suite(const EngineUnderTest& engine, const Face& face) {
  register_cases(face.recipes + "semaphore", engine, face, semaphore_cases());
}

void register_multi_lock_suite(const EngineUnderTest& engine, const Face& face) {
  register_cases(face.recipes + "multi_lock", engine, face, multi_lock_cases());
}

void register_throttle_suite(const EngineUnderTest& engine, const Face& face) {
  register_cases(face.recipes + "throttle", engine, face, throttle_cases());
}

void register_leader_election_suite(const EngineUnderTest& engine, const Face& face) {
  register_cases(face.recipes + "leader_election", engine, face, leader_election_cases());
}

void register_once_suite(const EngineUnderTest& engine, const Face& face) {
  register_cases(face.recipes + "once", engine, face, once_cases());
}

void register_recipe_suites(const EngineUnderTest& engine, const Face& face) {
  register_reader_writer_suite(engine, face);
  register_semaphore_suite(engine, face);
  register_multi_lock_suite(engine, face);
  register_throttle_suite(engine, face);
  register_leader_election_suite(engine, face);
  register_once_suite(engine, face);
}

}  // namespace holdfast::testing
