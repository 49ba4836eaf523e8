#pragma once

#include <holdfast/testing/engine_under_test.h>

namespace holdfast::conformance {

// The engines of this tree, one source each: `<engine>_engine.cc`.
testing::EngineUnderTest memory_engine();
testing::EngineUnderTest mongodb_engine();
testing::EngineUnderTest postgresql_engine();
testing::EngineUnderTest redis_engine();
testing::EngineUnderTest sqlite_engine();

// Redis once more, with its own clock: what the time of a test cannot show is how keys expire.
testing::EngineUnderTest redis_engine_in_real_time();
// Redis once more, its master found by Sentinels.
testing::EngineUnderTest redis_engine_by_sentinel();
// MongoDB once more, with the clock of the server: finds what `$$NOW` does in the pipelines, where
// the other has the time of a test.
testing::EngineUnderTest mongodb_engine_in_real_time();

// The same of PostgreSQL: finds what clock_timestamp() does in the functions.
testing::EngineUnderTest postgresql_engine_in_real_time();
// Through PgBouncer, which gives each statement another session, so that waiters poll: in real
// time.
testing::EngineUnderTest postgresql_engine_through_pgbouncer();
// The same with the time of the test, for the store's suite alone: nobody waits there.
testing::EngineUnderTest postgresql_store_through_pgbouncer();

}  // namespace holdfast::conformance
