// The answers and messages of Sentinels: what is read of them is an address that can be used, or an
// error that can be printed.
#include <string>
#include <vector>

#include <tests/fuzz/fuzz.h>

#include <holdfast/engines/redis/internal/connection/reply_reader.h>
#include <holdfast/engines/redis/internal/connection/sentinel_answers.h>

namespace {

using namespace holdfast::engines::redis::internal;
using holdfast::fuzz::require;

std::vector<Reply> replies_in(std::string_view bytes) {
  std::vector<Reply> replies;
  ReplyReader reader;
  require(reader.feed(bytes).has_value(), "there is memory");
  for (auto next = reader.next(); next && *next; next = reader.next()) {
    replies.push_back(**std::move(next));
  }
  return replies;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = holdfast::fuzz::as_text(data, size);
  if (const auto address = read_switch(text, "locks")) {
    require(text.starts_with("locks "), "the message is about our master");
    require(address->find(':') != address->npos, "an address has a port");
  }
  const std::vector<Reply> replies = replies_in(text);
  for (const Reply& reply : replies) {
    if (const auto checked = check_is_master(reply); !checked) {
      holdfast::fuzz::require_printable(checked.error());
    }
  }
  if (replies.size() < 2) {
    return 0;
  }
  const auto master = read_master(replies[0], replies[1]);
  if (!master) {
    holdfast::fuzz::require_printable(master.error());
  } else if (*master) {
    require(!(*master)->host.empty() && (*master)->port != 0, "a master can be connected to");
  }
  return 0;
}
