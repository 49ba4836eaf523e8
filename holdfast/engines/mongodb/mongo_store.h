#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <holdfast/base/error.h>
#include <holdfast/engines/mongodb/mongo_options.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::engines::mongodb {

// For tests: the time by which leases are judged instead of the server's.
using Time = std::function<std::chrono::milliseconds()>;

// Opens a store of the leases of all machines that share a MongoDB server, replica set or sharded
// cluster (4.2 or later). Invalid options are an error. It connects when it is first used: a
// server that cannot be reached yet is ErrorCode::unavailable then.
//
// Thread-safe: each thread in an operation uses a connection of its own, from a pool. A
// store with watches uses one more thread and connection. In a forked child everything fails with
// ErrorCode::unsupported.
//
// Each claim and each transfer is one update on the server, judged by the server's clock, which
// counts milliseconds. It blocks until its deadline; without one, until MongoOptions::reply_timeout
// has passed. A server that steps down or restarts is asked again meanwhile, with the same lease
// id.
//
// A mutex is a document as DistributedLock.MongoDB has it, so that Holdfast excludes those programs
// and they exclude Holdfast. A lock of theirs shows as a Holder that is `foreign`; it is never
// changed.
//
// Tokens grow even if the server forgets a name, as long as its clock does not go back meanwhile.
// docs/engines/mongodb.md says what is kept, and what write concern and fail-over mean.
//
// Beyond the errors of LeaseStore: conflict, if a document that is not a lock has the name.
//
//   auto store = mongodb::open_store({.uri = "mongodb://db.example", .database = "app"});
//   LockProvider provider(*std::move(store));
[[nodiscard]] base::Result<std::unique_ptr<store::LeaseStore>> open_store(MongoOptions options,
                                                                          Time time = {});

}  // namespace holdfast::engines::mongodb
