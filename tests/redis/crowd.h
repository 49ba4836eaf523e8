#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/base/ids.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {

// Workers in several stores that acquire one name again and again, each for some milliseconds, and
// record what they had. An error is followed by the next try.
//
//   Crowd crowd(url);
//   const auto from = Crowd::Clock::now();
//   … break something …
//   ASSERT_TRUE(crowd.everybody_had_it_since(from));
//   for (const std::string& wrong : crowd.finish()) { ADD_FAILURE() << wrong; }
class Crowd {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t kStores = 4;
  static constexpr std::size_t kWorkers = 8;
  static constexpr std::chrono::seconds kTtl{5};

  explicit Crowd(const std::string& url);
  ~Crowd() { stop(); }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // Blocks until each worker has acquired the name since then; false if that takes for ever.
  [[nodiscard]] bool everybody_had_it_since(Clock::time_point since) const;
  // Ends the workers. Returns what is against the promises, of all that they have recorded:
  //  - a worker had the name after another had left it, and its token is not greater;
  //  - two had it at a time, and the earlier one did not notice: it neither lost the lock nor was
  //    told so by its release.
  [[nodiscard]] std::vector<std::string> finish();

  // After finish(). The longest time between two grants of one worker, the second since then.
  [[nodiscard]] Clock::duration longest_pause_since(Clock::time_point since) const;
  [[nodiscard]] std::size_t grants() const;
  [[nodiscard]] std::size_t overlaps() const noexcept { return overlaps_; }

 private:
  struct Record {
    base::FencingToken token;
    Clock::time_point begin;
    Clock::time_point end{};
    bool noticed = false;  // that it did not have the name all the time, or may not have
  };
  struct Worker {
    mutable std::mutex mutex;
    std::vector<Record> records;  // protected by mutex, until the workers have ended
    std::thread thread;
  };

  void stop();
  void work(locks::LockProvider& provider, Worker& worker);

  std::vector<std::unique_ptr<locks::LockProvider>> providers_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<bool> is_stopping_ = false;
  std::size_t overlaps_ = 0;
};

}  // namespace holdfast::tests
