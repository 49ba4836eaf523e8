#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/engines/postgresql/postgres_options.h>

namespace holdfast::engines::postgresql {

// Reads one of these, as libpq does; percent escapes are resolved part by part:
//
//   postgresql://[user[:password]@][host[:port][,host[:port]…]][/database][?option=value&…]
//   postgres://…
//
// Options, each at most once (postgres_url_options() lists them with their defaults):
//
//   schema               the schema that has the tables and functions
//   prefix               comes before every name
//   retention            how long an idle name remembers its token, such as 1h
//   commit               configured, or off: a grant does not wait for the server's disk
//   connect_timeout, reply_timeout        such as 1s and 5s; a number without a unit is in seconds
//   max_connections
//
// and of libpq's own those that say which server, who we are and how to speak: host, hostaddr,
// port, dbname, user, password, passfile, target_session_attrs, application_name, options,
// client_encoding, service, the names that begin with ssl, krb, gss or keepalives, channel_binding,
// require_auth, requirepeer, tcp_user_timeout.
//
// A mistake is invalid_argument; the message names it, and never the password.
[[nodiscard]] base::Result<PostgresOptions> parse_postgres_url(std::string_view text);

// Holdfast's own options, in the form `schema=holdfast`.
[[nodiscard]] std::vector<std::string> postgres_url_options();

}  // namespace holdfast::engines::postgresql
