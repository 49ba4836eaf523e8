#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct redisContext;  // NOLINT(readability-identifier-naming): hiredis's name.

namespace holdfast::tests {

// A plain client, to see and to change what is on the server past Holdfast.
//
// Not thread-safe. A server that does not answer is a std::runtime_error.
class RedisClient {
 public:
  explicit RedisClient(std::uint16_t port);

  // The reply as text: an array as [a b c], an error as it came, nothing as (nil).
  std::string run(const std::vector<std::string>& words);

 private:
  struct Free {
    void operator()(redisContext* context) const noexcept;
  };
  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace holdfast::tests
