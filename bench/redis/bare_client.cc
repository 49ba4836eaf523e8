#include <cstdio>
#include <stdexcept>

#include "bench/redis/bare_client.h"

namespace holdfast::bench_redis {

namespace {

constexpr const char* kValue = "0123456789abcdef0123456789abcdef";
constexpr const char* kLock = "SET %s %s NX PX 30000";
constexpr const char* kRun = "EVALSHA %s 1 %s %s";

constexpr const char* kUnlock =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
constexpr const char* kUnlockAndTell =
    "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) "
    "return redis.call('publish', KEYS[1], '') end return 0";

std::string text_of(void* answer) {
  const std::unique_ptr<redisReply, decltype(&::freeReplyObject)> reply(
      static_cast<redisReply*>(answer), &::freeReplyObject);
  if (reply == nullptr || reply->type == REDIS_REPLY_ERROR || reply->type == REDIS_REPLY_NIL) {
    throw std::runtime_error("the bare client is broken");
  }
  return reply->str != nullptr ? std::string(reply->str, reply->len) : std::string();
}

}  // namespace

void BareClient::Free::operator()(redisContext* context) const noexcept { ::redisFree(context); }

template <class... Arguments>
std::string BareClient::ask(const char* format, Arguments... arguments) {
  return text_of(::redisCommand(context_.get(), format, arguments...));
}

std::string BareClient::hear() {
  void* reply = nullptr;
  ::redisGetReply(context_.get(), &reply);
  return text_of(reply);
}

BareClient::BareClient(std::uint16_t port) : context_(::redisConnect("127.0.0.1", port)) {
  unlock_ = ask("SCRIPT LOAD %s", kUnlock);
  unlock_and_tell_ = ask("SCRIPT LOAD %s", kUnlockAndTell);
}

void BareClient::lock(const std::string& name) { ask(kLock, name.c_str(), kValue); }

void BareClient::unlock(const std::string& name) {
  ask(kRun, unlock_.c_str(), name.c_str(), kValue);
}

void BareClient::unlock_and_tell(const std::string& name) {
  ask(kRun, unlock_and_tell_.c_str(), name.c_str(), kValue);
}

void BareClient::lock_and_unlock_many(const std::string& prefix, int count) {
  for (int i = 0; i < count; ++i) {
    ::redisAppendCommand(context_.get(), kLock, (prefix + std::to_string(i)).c_str(), kValue);
  }
  for (int i = 0; i < count; ++i) {
    hear();
  }
  for (int i = 0; i < count; ++i) {
    ::redisAppendCommand(context_.get(), kRun, unlock_.c_str(),
                         (prefix + std::to_string(i)).c_str(), kValue);
  }
  for (int i = 0; i < count; ++i) {
    hear();
  }
}

void BareClient::subscribe(const std::string& channel) { ask("SUBSCRIBE %s", channel.c_str()); }

void BareClient::await_message() { hear(); }

ScriptStatistics BareClient::script_statistics() {
  const std::string info = ask("INFO commandstats");
  ScriptStatistics statistics;
  const std::size_t at = info.find("cmdstat_evalsha:");
  if (at != std::string::npos) {
    std::sscanf(info.c_str() + at, "cmdstat_evalsha:calls=%lf,usec=%lf", &statistics.calls,
                &statistics.microseconds);
  }
  return statistics;
}

double BareClient::listing_microseconds() {
  const std::string info = ask("INFO commandstats");
  double all = 0;
  for (const std::string_view command : {"cmdstat_evalsha:", "cmdstat_scan:"}) {
    const std::size_t at = info.find(command);
    const std::size_t usec = info.find("usec=", at);
    if (at != std::string::npos && usec != std::string::npos) {
      all += std::stod(info.substr(usec + std::string_view("usec=").size()));
    }
  }
  return all;
}

}  // namespace holdfast::bench_redis
