#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/log.h>

namespace holdfast::engines::redis {

// Options of TLS: how to authenticate the server, and how to authenticate to it.
struct TlsOptions {
  enum class Verify : std::uint8_t {
    full,  // the certificate must be of a trusted authority, and for the requested host
    none,  // encrypts, but does not authenticate the server
  };
  // The trusted authorities, a PEM file; empty: the machine's.
  std::string ca_file{};
  // For a server that asks for the client's certificate: PEM files, both or neither.
  std::string certificate_file{};
  std::string key_file{};
  Verify verify = Verify::full;
};

// The Sentinels that watch a master and its replicas, and say which server is the master.
struct SentinelOptions {
  struct Node {
    std::string host = "localhost";
    std::uint16_t port = 26379;
  };
  std::vector<Node> nodes{};  // at least one
  std::string master_name{};  // as in `sentinel monitor NAME …`
  // The login at the Sentinels; RedisOptions has that at the servers.
  std::string user{};
  std::string password{};
};

// The address of a Redis server, and how to speak with it. parse_redis_url() makes it from a URL.
struct RedisOptions {
  std::string host = "localhost";
  std::uint16_t port = 6379;
  // The path of a unix socket; if there is one, host and port do not count.
  std::string unix_socket{};
  // The server is the master that these Sentinels name; if they are set, host and port do not
  // count. `tls` is for the Sentinels, too.
  std::optional<SentinelOptions> sentinel{};
  // An empty user is the server's user `default`; an empty password is none.
  std::string user{};
  std::string password{};
  std::uint32_t database = 0;
  std::optional<TlsOptions> tls{};

  // Comes before every key, so that several fleets can share a database.
  std::string prefix{};
  // The time for which a name that is not in use, or an object that was erased, remembers its last
  // token. Not negative.
  base::Duration retention = std::chrono::hours(1);

  // A name for which claims wait goes from one to the next without being free in between, so that
  // clients of other programs that poll for it may never get in. Where such clients share names,
  // set this, such as to 3 s: the first release in each such period leaves the name free for a
  // twentieth of the period. Zero: never. Not negative.
  base::Duration yield_every{};

  // A grant counts once so many replicas have it. If they do not within ack_timeout, the lease is
  // released, and the claim is ErrorCode::unavailable. That narrows what a fail-over can lose, and
  // cannot close it: docs/engines/redis.md says how far. Zero: the master's word is enough. For
  // leases alone, not for objects.
  std::uint32_t ack = 0;
  base::Duration ack_timeout = std::chrono::seconds(1);  // positive

  // The longest time that one attempt to connect may take, including the greeting. Positive.
  base::Duration connect_timeout = std::chrono::seconds(1);
  // A server that owes an answer for this long counts as dead: the connection is closed, and every
  // call on it ends with ErrorCode::unknown_outcome, even without a deadline. Positive.
  base::Duration reply_timeout = std::chrono::seconds(5);
  // The most commands that may wait, or be under way, on one connection. Positive.
  std::size_t max_pending = 16'384;
  // The most bytes that these commands may have together; a command that is alone may have more.
  // Beyond either bound a call is ErrorCode::limit_exceeded. Positive.
  std::size_t max_pending_bytes = std::size_t{256} << 20U;

  base::Logger logger{};
};

}  // namespace holdfast::engines::redis
