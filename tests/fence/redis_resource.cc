#include <stdexcept>

#include <tests/fence/guarded_resource.h>
#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

#include <holdfast/fence/redis_guard.h>

namespace holdfast::tests {

namespace {

using base::FencingToken;

class RedisWriter : public Writer {
 public:
  explicit RedisWriter(std::uint16_t port) : client_(port) {}
  bool write(FencingToken token, const std::string& value) override {
    const std::string answer = client_.run({"EVAL", std::string(fence::redis_set_script().text),
                                            "2", "fence", "resource", to_string(token), value});
    if (answer.find("366 days ahead") != std::string::npos) {
      return false;
    }
    if (!answer.starts_with("[1 ") && !answer.starts_with("[0 ")) {
      throw std::runtime_error(answer);
    }
    return answer.starts_with("[1 ");
  }

 private:
  RedisClient client_;
};

class RedisResource : public GuardedResource {
 public:
  std::unique_ptr<Writer> writer() override {
    return std::make_unique<RedisWriter>(server_.port());
  }
  std::string read() override { return RedisClient(server_.port()).run({"GET", "resource"}); }
  void restart() override { server_.restart(); }

 private:
  RedisServer server_{{.arguments = {"--appendonly", "yes", "--appendfsync", "always"}}};
};

}  // namespace

std::unique_ptr<GuardedResource> make_redis_resource() { return std::make_unique<RedisResource>(); }

}  // namespace holdfast::tests
