#include <optional>

#include <tests/fence/guarded_resource.h>

#include <holdfast/fence/fence_guard.h>

namespace holdfast::tests {

namespace {

using base::FencingToken;

// A server that keeps a value with its token, and guards it in memory.
class ProcessResource : public GuardedResource {
 public:
  ProcessResource() { restart(); }

  std::unique_ptr<Writer> writer() override {
    struct Caller : Writer {
      explicit Caller(ProcessResource& called) : server(called) {}
      bool write(FencingToken token, const std::string& value) override {
        const auto pass = server.guard_->enter("resource", token);
        if (pass) {
          server.value_ = value;
          server.token_ = token;
        }
        return pass.has_value();
      }
      ProcessResource& server;
    };
    return std::make_unique<Caller>(*this);
  }

  std::string read() override { return value_; }

  void restart() override {
    guard_.emplace();
    base::value_or_throw(guard_->check("resource", token_));
  }

 private:
  std::string value_;  // these two outlive a restart, as if on a disk
  FencingToken token_{0};
  std::optional<fence::FenceGuard> guard_;
};

}  // namespace

std::unique_ptr<GuardedResource> make_process_resource() {
  return std::make_unique<ProcessResource>();
}

}  // namespace holdfast::tests
