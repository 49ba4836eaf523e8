#include <holdfast/engines/redis/internal/check_options.h>

#include <string>
#include <utility>

namespace holdfast::engines::redis::internal {

namespace {

std::unexpected<base::Error> invalid(std::string what) {
  return base::fail(base::ErrorCode::invalid_argument, std::move(what));
}

}  // namespace

base::Result<void> check_options(const RedisOptions& options) {
  if (options.retention < base::Duration::zero()) {
    return invalid("the retention is negative");
  }
  if (options.connect_timeout <= base::Duration::zero()) {
    return invalid("connect_timeout is not positive");
  }
  if (options.reply_timeout <= base::Duration::zero()) {
    return invalid("reply_timeout is not positive");
  }
  if (options.max_pending == 0) {
    return invalid("max_pending is 0: no command could ever be sent");
  }
  if (options.max_pending_bytes == 0) {
    return invalid("max_pending_bytes is 0: commands could only be sent one by one");
  }
  if (options.yield_every < base::Duration::zero()) {
    return invalid("yield_every is negative");
  }
  if (options.ack_timeout <= base::Duration::zero()) {
    return invalid("ack_timeout is not positive");
  }
  if (options.sentinel && options.sentinel->nodes.empty()) {
    return invalid("there is no Sentinel to ask for the master");
  }
  if (options.sentinel && options.sentinel->master_name.empty()) {
    return invalid("the Sentinels are to be asked for a master, but its name is missing");
  }
  if (options.sentinel && !options.unix_socket.empty()) {
    return invalid("the server is named twice: by Sentinels, and by the path of a socket");
  }
  if (options.tls && options.tls->certificate_file.empty() != options.tls->key_file.empty()) {
    return invalid("a certificate and its key belong together: give both files, or neither");
  }
  return {};
}

}  // namespace holdfast::engines::redis::internal
