#pragma once

#include <memory>

#include <holdfast/engines/postgresql/postgres_options.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::engines::postgresql {

namespace internal {
class Pool;
}  // namespace internal

// The objects of all machines that share a PostgreSQL server (14 or later): a row each, in the
// table `objects` of the schema.
//
// Thread-safe: all threads share a few connections (PostgresOptions::max_connections). In a forked
// child everything fails with ErrorCode::unsupported.
//
// Each operation is one transaction, a batch of Batch::all_or_none too; a larger batch of
// Batch::each takes several. It blocks until its deadline; without one, until
// PostgresOptions::reply_timeout has passed. A completed save is as durable as the server's
// synchronous_commit makes it, whatever PostgresOptions::commit says.
//
// An object that was erased with a token, or loaded with one and not found, leaves its token behind
// for PostgresOptions::retention by the server's clock.
//
// Beyond the errors of ObjectRepository: limit_exceeded, for a batch of all_or_none with more than
// 256 MiB.
//
//   auto repository = PostgresRepository::open({.conninfo = "postgresql://app@db.example/app"});
class PostgresRepository final : public store::ObjectRepository {
 public:
  // Options that cannot be are an error, and so is a missing libpq. Connects when it is first used:
  // a server that is not there yet is ErrorCode::unavailable then.
  [[nodiscard]] static base::Result<std::unique_ptr<PostgresRepository>> open(
      PostgresOptions options);
  ~PostgresRepository() override;

  [[nodiscard]] store::RepositoryCapabilities capabilities() const override;

 private:
  explicit PostgresRepository(std::unique_ptr<internal::Pool> pool);

  base::Result<store::LoadOutcome> do_load(const store::ObjectKey& key, base::FencingToken token,
                                           base::Deadline deadline) override;
  base::Result<std::vector<store::SaveOutcome>> do_save(std::span<const store::ObjectSave> saves,
                                                        store::Batch batch,
                                                        base::Deadline deadline) override;
  base::Result<store::EraseOutcome> do_erase(const store::ObjectKey& key, base::FencingToken token,
                                             base::Deadline deadline) override;
  base::Result<store::IdPage> do_list(std::string_view type, std::string_view prefix,
                                      std::size_t limit, std::string_view after,
                                      base::Deadline deadline) override;

  const std::unique_ptr<internal::Pool> pool_;
};

}  // namespace holdfast::engines::postgresql
