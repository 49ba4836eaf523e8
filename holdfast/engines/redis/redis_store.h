#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/redis_options.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::engines::redis {

// For tests: the time by which leases are judged instead of the server's.
using Time = std::function<std::chrono::microseconds()>;

// Opens a store of the leases of all machines that share a Redis server (7 or later, or Valkey).
// It connects with the first operation: a server that cannot be reached, or lets nobody in, is an
// error of that, and it is tried again with the next one.
//
// Thread-safe: all threads share one pipelined connection, and all waiters a second one, which has
// a thread. In a forked child everything fails with ErrorCode::unsupported.
//
// Each operation but `list` is one script on the server and one round trip, judged by the server's
// clock. It blocks until its deadline; without one, until the server counts as dead
// (RedisOptions::reply_timeout). A server that has become a replica, is starting, or whose cluster
// is down is asked once more, over a new connection: another may have its address by now.
//
// With RedisOptions::sentinel, the store asks Sentinels for the master before each connection, and
// one more thread listens to them: when they make another server the master, both connections move
// there, and leases that it knows go on.
//
// With RedisOptions::ack, a claim that is granted returns when so many replicas have the grant, or
// is released and unavailable, half a second after its deadline at the latest. A transfer that they
// do not have in time is unknown_outcome. A third connection and a thread do that; with Sentinels,
// one more thread listens for this connection.
//
// `list` walks over all keys of the server with the first page; the pages that follow within a
// minute continue from there. limit_exceeded: more than 4 million names.
//
// A mutex is a string at the name itself, its value the lease id, set with an expiry: as redis-py's
// Lock and others have it, so that Holdfast excludes them and they exclude Holdfast. A lock of
// theirs shows as a Holder that is `foreign`; it is never changed. `list` finds it if it has an
// expiry, unless more than 100,000 keys of others match the store's prefix.
//
// The cost of a claim, renewal, transfer or release does not grow with the holders of the name.
// Busy names at most 16 of them, those whose leases end first; `look` names all.
//
// Tokens grow even if the server loses its data, as long as its clock does not go back meanwhile.
// Leases are lost with the data: see docs/engines/redis.md for what the server's settings mean.
//
// Beyond the errors of LeaseStore: conflict, if a key of another type is at the name.
//
//   auto store = redis::open_store({.host = "redis.example"});
//   LockProvider provider(*std::move(store));
[[nodiscard]] base::Result<std::unique_ptr<store::LeaseStore>> open_store(RedisOptions options,
                                                                          Time time = {});

}  // namespace holdfast::engines::redis
