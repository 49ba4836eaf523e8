#pragma once

#include <cstdint>
#include <string_view>

#include <holdfast/engines/postgresql/postgres_options.h>
#include <holdfast/store/finding.h>

// Functions that judge the properties of a server by the promises.
namespace holdfast::engines::postgresql::internal {

[[nodiscard]] store::Finding judge_version(std::string_view version, std::int64_t number);
[[nodiscard]] store::Finding judge_pooler(bool is_direct);
// The settings `fsync` and `full_page_writes`.
[[nodiscard]] store::Finding judge_durability(std::string_view fsync, std::string_view pages);
// `standbys`: how many are connected. `synchronous`: the setting synchronous_standby_names.
[[nodiscard]] store::Finding judge_replication(std::int64_t standbys, std::string_view synchronous);
[[nodiscard]] store::Finding judge_commit(std::string_view synchronous_commit,
                                          PostgresOptions::Commit commit);
// The setting `autovacuum`, and the rows of the table of records.
[[nodiscard]] store::Finding judge_vacuum(std::string_view autovacuum, std::int64_t dead,
                                          std::int64_t live);

}  // namespace holdfast::engines::postgresql::internal
