// The reader of the server's replies: the same bytes give the same replies in whatever pieces they
// come.
#include <algorithm>
#include <optional>
#include <vector>

#include <tests/fuzz/fuzz.h>

#include <holdfast/engines/redis/internal/connection/reply_reader.h>

namespace {

using holdfast::engines::redis::internal::Reply;
using holdfast::engines::redis::internal::ReplyReader;
using holdfast::fuzz::require;

struct Read {
  std::vector<Reply> replies;
  bool failed = false;
};

// Takes what is whole.
void take(ReplyReader& reader, std::size_t fed, Read& read) {
  while (!read.failed) {
    auto next = reader.next();
    if (!next) {
      read.failed = true;
      require(!next.error().message.empty(), "an error has a message");
      return;
    }
    require(reader.begun() <= fed, "no more is begun than has come");
    if (!*next) {
      return;
    }
    read.replies.push_back(**std::move(next));
  }
}

std::size_t depth(const Reply& reply) {
  std::size_t most = 0;
  for (const Reply& element : reply.elements()) {
    most = std::max(most, 1 + depth(element));
  }
  return most;
}

}  // namespace

// The first byte says in which pieces the others come.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  std::size_t step = data[0];
  const std::string_view bytes = holdfast::fuzz::as_text(data + 1, size - 1);
  Read whole;
  {
    ReplyReader reader;
    require(reader.feed(bytes).has_value(), "there is memory");
    take(reader, bytes.size(), whole);
  }
  Read pieces;
  ReplyReader reader;
  for (std::size_t fed = 0; fed < bytes.size() && !pieces.failed;) {
    const std::string_view piece = bytes.substr(fed, 1 + step % 7);
    step = step * 5 + 1;
    require(reader.feed(piece).has_value(), "there is memory");
    fed += piece.size();
    take(reader, fed, pieces);
  }
  require(whole.failed == pieces.failed, "pieces fail as the whole does");
  require(whole.replies == pieces.replies, "pieces give the replies of the whole");
  for (const Reply& reply : whole.replies) {
    require(depth(reply) <= 8, "arrays are not deeper than the limit");
  }
  return 0;
}
