#pragma once

#include <vector>

#include <holdfast/testing/repository_under_test.h>

namespace holdfast::conformance {

// The repositories of this tree, one source each: `<engine>_repository.cc`.
testing::RepositoryUnderTest memory_repository();
testing::RepositoryUnderTest mongodb_repository();
testing::RepositoryUnderTest postgresql_repository();
testing::RepositoryUnderTest postgresql_repository_through_pgbouncer();
testing::RepositoryUnderTest redis_repository();
testing::RepositoryUnderTest sqlite_repository();

inline std::vector<testing::RepositoryUnderTest> all_repositories() {
  return {memory_repository(),  sqlite_repository(),     redis_repository(),
          mongodb_repository(), postgresql_repository(), postgresql_repository_through_pgbouncer()};
}

// Compares a repository with that in memory, as `repository_differential.<engine>.<Sentence>`.
void register_repository_differential(const testing::RepositoryUnderTest& engine);

}  // namespace holdfast::conformance
