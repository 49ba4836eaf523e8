#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/open_store.h>

#include "bench/scale/context.h"

namespace holdfast::bench_scale {

// A fresh store of one engine; on a server, a prefix that no other has.
class StoreUnderTest {
 public:
  StoreUnderTest(Context& context, std::string_view engine)
      : store_(base::value_or_throw(engines::open_store(url(context, engine)))) {
    static int count = 0;
    prefix_ = fmt::format("scale:{}:", count++);
  }

  [[nodiscard]] store::LeaseStore& operator*() const { return *store_; }
  [[nodiscard]] store::LeaseStore* operator->() const { return store_.get(); }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

  // Claims `permits` of a name for an hour, and throws if they are not granted.
  base::LeaseId hold(const std::string& name, store::Permits permits) const {
    const store::Claim claim{.id = base::LeaseId::generate(),
                             .owner = "bench",
                             .reason = {},
                             .ttl = std::chrono::hours(1),
                             .permits = permits};
    const auto outcome = base::value_or_throw(store_->claim(name, claim));
    if (!std::holds_alternative<store::Grant>(outcome)) {
      throw std::runtime_error(name + " was not granted");
    }
    return claim.id;
  }

 private:
  std::string url(Context& context, std::string_view engine) const {
    if (engine == "redis") return context.redis_url();
    if (engine == "postgresql") return context.postgresql_url();
    return engine == "sqlite" ? "sqlite:" + (folder_ / "locks.db").string() : "memory:";
  }

  const tests::TemporaryFolder folder_;
  const std::shared_ptr<store::LeaseStore> store_;
  std::string prefix_;
};

}  // namespace holdfast::bench_scale
