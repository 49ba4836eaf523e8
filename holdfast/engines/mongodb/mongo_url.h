#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/engines/mongodb/mongo_options.h>

namespace holdfast::engines::mongodb {

// Reads one of these, as MongoDB's own programs do; percent escapes are resolved part by part:
//
//   mongodb://[user:password@]host[:port][,host[:port]…][/database][?option=value&…]
//   mongodb+srv://[user:password@]name[/database][?option=value&…]
//
// Options, each at most once (mongo_url_options() lists them with their defaults):
//
//   collection           where the locks are
//   objects              the collection of a repository of objects
//   prefix               comes before every _id
//   w                    how many servers must have a change: majority, a number from 1, or a mode
//   retention            how long an idle name remembers its token, such as 1h
//   expiry, extension_cadence             for locks made from these options, such as 30s and 10s
//   busy_wait_least, busy_wait_most       such as 10ms and 800ms
//   connect_timeout, reply_timeout        such as 1s and 5s
//   max_connections
//
// and of MongoDB's own those that say which servers, who we are and how to speak: replicaSet,
// directConnection, authSource, authMechanism, authMechanismProperties, tls, tlsCAFile,
// tlsCertificateKeyFile, tlsCertificateKeyFilePassword, tlsInsecure, tlsAllowInvalidCertificates,
// tlsAllowInvalidHostnames, appName, compressors, zlibCompressionLevel, srvServiceName,
// srvMaxHosts.
//
// A mistake is invalid_argument, and the message names it, but never the password.
[[nodiscard]] base::Result<MongoOptions> parse_mongo_url(std::string_view text);

// Holdfast's own options, in the form `collection=distributed.locks`.
[[nodiscard]] std::vector<std::string> mongo_url_options();

}  // namespace holdfast::engines::mongodb
