#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <tests/support/patience.h>
#include <tests/support/redis_server.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/testing/faulty_store.h>

namespace holdfast::tests {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kShare = 8;  // of what a test does where it takes about ten times as long
#else
inline constexpr int kShare = 1;
#endif

// A store of each way to be asked: at once (memory), in the pool (pool: memory behind a
// FaultyStore, and sqlite), and directly (redis). Names are of this test alone.
class AsyncTest : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::shared_ptr<store::LeaseStore> open() {
    if (GetParam() == "pool") {
      return std::make_shared<testing::FaultyStore>(open("memory:"));
    }
    if (GetParam() == "sqlite") {
      folder_.emplace();
      return open("sqlite:" + (*folder_ / "locks.db").string());
    }
    if (GetParam() == "redis") {
      static const RedisServer kServer;
      static std::atomic<int> opened = 0;
      return open(kServer.url() + "?prefix=test" + std::to_string(++opened) + ":");
    }
    return open("memory:");
  }

  static std::shared_ptr<store::LeaseStore> open(const std::string& url) {
    return base::value_or_throw(engines::open_store(url));
  }

  // Nobody holds anything in the store.
  static bool is_empty(store::LeaseStore& store) {
    return base::value_or_throw(store.list("")).names.empty();
  }

  // Runs so many handlers, fewer if nothing more is to be done.
  static void run_some(boost::asio::io_context& context, int handlers) {
    for (int i = 0; i < handlers && context.run_one_for(kPatience) > 0; ++i) {
    }
  }

 private:
  std::optional<TemporaryFolder> folder_;
};

inline std::string name_of_store(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace holdfast::tests
