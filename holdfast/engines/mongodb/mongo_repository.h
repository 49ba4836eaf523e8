#pragma once

#include <memory>

#include <holdfast/base/error.h>
#include <holdfast/engines/mongodb/mongo_options.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::engines::mongodb {

// Opens a repository of the objects of all machines that share a MongoDB server, replica set or
// sharded cluster (4.2 or later): a document each, in the collection MongoOptions::objects. Invalid
// options are an error. It connects when it is first used: a server that cannot be reached yet is
// ErrorCode::unavailable then.
//
// Thread-safe: each thread in an operation uses a connection of its own, from a pool. In a forked
// child everything fails with ErrorCode::unsupported.
//
// Each load, save and erase is one atomic update on the server; the saves of a batch go there
// together, but are not one step: all_or_none is not supported. It blocks until its deadline;
// without one, until MongoOptions::reply_timeout has passed. A server that steps down, or goes away
// and comes back, is asked again meanwhile.
//
// Saved data survives this process, and what else the write concern promises:
// docs/engines/mongodb.md.
//
// An object that was erased with a token, or loaded with one and not found, leaves its token for
// MongoOptions::retention by the server's clock, until the TTL index removes it.
//
// Beyond the errors of ObjectRepository: conflict, if a document that is not an object is in its
// place.
//
//   auto repository = mongodb::open_repository({.uri = "mongodb://db.example", .database = "app"});
[[nodiscard]] base::Result<std::unique_ptr<store::ObjectRepository>> open_repository(
    MongoOptions options);

}  // namespace holdfast::engines::mongodb
