#include <holdfast/engines/redis/internal/connection/server_errors.h>

#include <algorithm>
#include <array>
#include <string_view>

#include <holdfast/base/printable.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using namespace server_error;

struct Meaning {
  std::string_view word;
  ErrorCode code;
  std::string_view what;
};

constexpr std::array kMeanings{
    Meaning{
        "WRONGTYPE", ErrorCode::conflict,
        "a key of that name holds something that is not Holdfast's; it is left as it is: choose "
        "another name, or a prefix"},
    Meaning{"CORRUPT", ErrorCode::corrupt,
            "what is stored for the name is not readable; it is left as it is"},
    Meaning{"OOM", ErrorCode::unavailable, "the server's memory is full: raise maxmemory"},
    Meaning{"MISCONF", ErrorCode::unavailable, "the server cannot save to its disk: check its log"},
    Meaning{kReadOnly, ErrorCode::unavailable, "the server is a replica: name its master"},
    Meaning{kMasterDown, ErrorCode::unavailable, "the server is a replica without a master"},
    Meaning{"NOREPLICAS", ErrorCode::unavailable, "the server has lost its replicas"},
    Meaning{kLoading, ErrorCode::unavailable, "the server is starting: try again"},
    Meaning{"BUSY", ErrorCode::unavailable, "the server is busy with somebody's script: try again"},
    Meaning{kNoAuth, ErrorCode::unavailable, "the server wants a password: put it into the URL"},
    Meaning{kNoPermission, ErrorCode::unavailable,
            "the user may not do this: allow it the keys, the scripts, and publishing"},
    Meaning{kClusterDown, ErrorCode::unavailable, "the cluster is down"},
    Meaning{"TRYAGAIN", ErrorCode::unavailable,
            "the name is moving to another node of the cluster: try again"},
    Meaning{"MOVED", ErrorCode::unsupported, "the name is on another node of a cluster"},
    Meaning{"CROSSSLOT", ErrorCode::unsupported, "the names are in several slots of a cluster"},
    Meaning{"ASK", ErrorCode::unsupported, "the name is moving to another node of a cluster"},
};

// A Sentinel, or a server whose administrator has renamed commands.
constexpr std::string_view kUnknownCommand = "ERR unknown command";

constexpr std::array kUnfit = {kReadOnly, kLoading, kMasterDown, kClusterDown};

}  // namespace

bool is_unfit(const Reply& reply) noexcept {
  return reply.is_error() &&
         std::ranges::any_of(kUnfit, [&](std::string_view word) { return reply.is_error(word); });
}

base::Error failure_of(const Reply& error) {
  if (error.text().starts_with(kUnknownCommand)) {
    return {ErrorCode::unsupported,
            "the server does not run scripts: it may be a Sentinel, or EVALSHA and EVAL may be "
            "disabled; name Sentinels as in redis+sentinel://host:26379/mymaster, and allow both "
            "commands (" +
                base::printable(error.text()) + ")"};
  }
  for (const Meaning& meaning : kMeanings) {
    if (error.is_error(meaning.word)) {
      return {meaning.code, std::string(meaning.what) + " (" + base::printable(error.text()) + ")"};
    }
  }
  return {ErrorCode::internal, "the server refuses a command: " + base::printable(error.text())};
}

}  // namespace holdfast::engines::redis::internal
