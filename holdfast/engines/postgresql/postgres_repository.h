#pragma once

#include <memory>

#include <holdfast/base/error.h>
#include <holdfast/engines/postgresql/postgres_options.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::engines::postgresql {

// Opens a repository of the objects of all machines that share a PostgreSQL server (14 or later): a
// row each, in the table `objects` of the schema. Invalid options are an error, and so is a missing
// libpq. It connects with the first operation: a server that cannot be reached is
// ErrorCode::unavailable then.
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
//   auto repository = postgresql::open_repository({.conninfo = "postgresql://app@db.example/app"});
[[nodiscard]] base::Result<std::unique_ptr<store::ObjectRepository>> open_repository(
    PostgresOptions options);

}  // namespace holdfast::engines::postgresql
