#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/engines/redis/redis_options.h>

namespace holdfast::engines::redis {

// Reads one of these; percent escapes are resolved part by part, so that a password may have any
// bytes:
//
//   redis://[user:password@][host][:port][/database][?option=value&…]
//   rediss://…                     the same over TLS
//   redis+unix://[user:password@]/path/to/socket[?db=1&option=value&…]
//   redis+sentinel://[user:password@]host[:port],host…/master[/database][?option=value&…]
//   rediss+sentinel://…            the same over TLS, to the Sentinels and to the servers
//
// Options, each at most once (redis_url_options() lists them with their defaults):
//
//   db               the number of the database, instead of in the path
//   prefix           comes before every key
//   retention        how long an idle name remembers its token, such as 1h
//   connect_timeout  such as 1s
//   reply_timeout    such as 5s
//   max_pending      how many commands may wait on the connection
//   max_pending_bytes    how many bytes these may have together
//   yield_every      how often a contended name is left free for clients that poll, such as 3s, or
//                    never
//   ack              how many replicas must have a grant before it counts
//   ack_timeout      how long they have for that, such as 1s
//   tls_ca, tls_cert, tls_key    PEM files; only for rediss and rediss+sentinel
//   tls_verify       full or none; only for rediss and rediss+sentinel
//   sentinel_user, sentinel_password    the login at the Sentinels, if they ask for one; user and
//                    password are for the servers
//
// A mistake is invalid_argument, and the message names it, but never the password.
[[nodiscard]] base::Result<RedisOptions> parse_redis_url(std::string_view text);

// The options that a URL of this scheme (redis, rediss, redis+unix, …) may have, in the form
// `connect_timeout=1s`.
[[nodiscard]] std::vector<std::string> redis_url_options(std::string_view scheme);

}  // namespace holdfast::engines::redis
