#include <tests/support/redis_client.h>

#include <stdexcept>

#include <hiredis/hiredis.h>
#include <tests/support/no_pipe_signal.h>

namespace holdfast::tests {

namespace {

std::string text_of(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_INTEGER: return std::to_string(reply.integer);
    case REDIS_REPLY_NIL: return "(nil)";
    case REDIS_REPLY_ARRAY: break;
    default: return {reply.str, static_cast<std::size_t>(reply.len)};
  }
  std::string text = "[";
  for (std::size_t i = 0; i < reply.elements; ++i) {
    text.append(i == 0 ? "" : " ").append(text_of(*reply.element[i]));
  }
  return text + "]";
}

}  // namespace

void RedisClient::Free::operator()(redisContext* context) const noexcept { ::redisFree(context); }

RedisClient::RedisClient(std::uint16_t port)
    : context_(::redisConnectWithTimeout("127.0.0.1", port, {.tv_sec = 60, .tv_usec = 0})) {
  if (context_ == nullptr || context_->err != 0) {
    throw std::runtime_error("the server does not accept a plain client");
  }
}

std::string RedisClient::run(const std::vector<std::string>& words) {
  const NoPipeSignal guard;
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  const std::unique_ptr<redisReply, decltype(&::freeReplyObject)> reply(
      static_cast<redisReply*>(::redisCommandArgv(context_.get(), static_cast<int>(words.size()),
                                                  texts.data(), sizes.data())),
      &::freeReplyObject);
  if (reply == nullptr) {
    throw std::runtime_error("the server does not answer a plain client");
  }
  return text_of(*reply);
}

}  // namespace holdfast::tests
