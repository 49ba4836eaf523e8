#pragma once

#include <cstddef>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/log.h>

namespace holdfast::engines::mongodb {

// The address of a MongoDB server, replica set or sharded cluster, and how to lock there.
// parse_mongo_url() makes it from a URL.
struct MongoOptions {
  // The URI for the driver: mongodb:// or mongodb+srv://, with the hosts, the login and the
  // driver's own options (replicaSet, authSource, tls, …). Its read preference is not used: locks
  // are read from the primary.
  std::string uri = "mongodb://localhost:27017";
  std::string database = "holdfast";
  std::string collection = "distributed.locks";
  // The collection of a repository of objects: another than that of the locks.
  std::string objects = "holdfast.objects";

  // The servers that must have a change before it counts: `majority`, a number from 1, or the name
  // of a mode of the replica set. With less than a majority a fail-over may forget a lease, and two
  // may hold a name.
  std::string write_concern = "majority";

  // Comes before every _id, so that several fleets can share a collection. Valid UTF-8.
  std::string prefix{};
  // The time for which a name that is not in use, or an erased object, remembers its last token:
  // `expireAfterSeconds` of the TTL index, where there is none yet. At least a second.
  base::Duration retention = std::chrono::hours(1);

  // The defaults of every LockProvider over this store: how long a lease lasts, and how often it is
  // renewed; zero: a third of that. The store itself does not use them.
  base::Duration expiry = std::chrono::seconds(30);
  base::Duration extension_cadence{};
  // Between two looks at names that are waited for, where the server cannot tell of changes: the
  // range of a pause that grows while nothing happens and with the number of names.
  base::Duration busy_wait_least = std::chrono::milliseconds(10);
  base::Duration busy_wait_most = std::chrono::milliseconds(800);

  // The longest time that one attempt to connect to one server may take. Positive.
  base::Duration connect_timeout = std::chrono::seconds(1);
  // A server that owes an answer for this long counts as dead. Also how long an operation without a
  // deadline goes on trying, and how long the server waits for a majority. Positive.
  base::Duration reply_timeout = std::chrono::seconds(5);
  // The most connections at a time; a call that finds none free waits.
  std::size_t max_connections = 100;

  base::Logger logger{};
};

}  // namespace holdfast::engines::mongodb
