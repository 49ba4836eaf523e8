#pragma once

#include <memory>

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/redis_options.h>
#include <holdfast/store/object_repository.h>

namespace holdfast::engines::redis {

// Opens a repository of the objects of all machines that share a Redis server (7 or later, or
// Valkey). It connects with the first operation: a server that cannot be reached, or lets nobody
// in, is an error of that, and it is tried again with the next one.
//
// Thread-safe: all threads share one pipelined connection. In a forked child everything fails with
// ErrorCode::unsupported.
//
// Each operation is one script on the server, and one round trip, a batch included, unless it has
// more than 64 MiB. It blocks until its deadline; without one, until the server counts as dead
// (RedisOptions::reply_timeout).
//
// Saved data survives this process. What survives the server's end, or its loss, is up to its
// settings: docs/engines/redis.md. It must not evict: maxmemory-policy noeviction.
//
// An object that was erased with a token, or loaded with one and not found, leaves its token for
// RedisOptions::retention by the server's clock, and then expires.
//
// In a cluster all objects of a type are in one slot: those of another node, and a batch
// all_or_none of types in several slots, are ErrorCode::unsupported.
//
// Beyond the errors of ObjectRepository: limit_exceeded for a batch all_or_none of more than
// 256 MiB; conflict, if a key of another type is in the object's place.
//
//   auto repository = redis::open_repository({.host = "redis.example"});
[[nodiscard]] base::Result<std::unique_ptr<store::ObjectRepository>> open_repository(
    RedisOptions options);

}  // namespace holdfast::engines::redis
