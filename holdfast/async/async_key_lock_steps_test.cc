// Something ends a wait after the n-th step, for every n.
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <holdfast/async/async_key_lock.h>
#include <holdfast/async/key_testing_support.h>

namespace holdfast::async {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr auto kNever = 1h;
constexpr int kFewestSteps = 15;  // fewer would mean that the victim never waited

// The coroutines that are inside, as they report themselves, to detect a lock that lets in too
// many.
class Rooms {
 public:
  class Stay {
   public:
    Stay(int& inside, int weight) : inside_(inside), weight_(weight) { inside_ += weight_; }
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;
    ~Stay() { inside_ -= weight_; }

   private:
    int& inside_;
    int weight_;
  };

  [[nodiscard]] Stay writer(const std::string& key) {
    EXPECT_EQ(inside_[key], 0);
    return {inside_[key], kWriter};
  }
  [[nodiscard]] Stay reader(const std::string& key) {
    EXPECT_LT(inside_[key], kWriter);
    return {inside_[key], 1};
  }
  [[nodiscard]] bool are_empty() const {
    for (const auto& [key, inside] : inside_) {
      if (inside != 0) return false;
    }
    return true;
  }

 private:
  static constexpr int kWriter = 1'000;
  std::map<std::string, int> inside_;
};

// A victim goes through every kind of wait, for keys that two rivals also want, on one thread, so
// that the n-th step is the same every time.
class Scene {
 public:
  Scene() {
    spawn(rival(), rivals_left_);
    asio::co_spawn(*context_, victim(),
                   asio::bind_cancellation_slot(signal_.slot(), [this](std::exception_ptr error) {
                     victim_ended_ = true;
                     victim_failed_ = error != nullptr;
                   }));
    spawn(rival(), rivals_left_);
  }

  // Returns whether there was a step left to make.
  bool step() { return context_->poll_one() != 0; }
  void run_to_the_end() { context_->run_for(1min); }

  void cancel() { signal_.emit(asio::cancellation_type::terminal); }
  void stop() { stop_source_.request_stop(); }
  void destroy_context() { context_.reset(); }

  [[nodiscard]] bool victim_ended() const { return victim_ended_; }
  [[nodiscard]] bool victim_needs_no_more() const { return victim_needs_no_more_; }
  [[nodiscard]] bool victim_failed() const { return victim_failed_; }
  [[nodiscard]] int rivals_left() const { return rivals_left_; }
  [[nodiscard]] bool is_clean() const {
    return rooms_.are_empty() && (!keys_ || keys_->size() == 0);
  }

 private:
  void spawn(asio::awaitable<void> coroutine, int& left) {
    ++left;
    asio::co_spawn(*context_, std::move(coroutine), [&left](std::exception_ptr) { --left; });
  }
  static auto pause() { return asio::post(asio::use_awaitable); }

  asio::awaitable<void> rival() {
    for (int i = 0; i < 6; ++i) {
      for (const char* key : {"k", "s", "t", "a"}) {
        const auto guard = co_await keys_->lock(key);
        const auto stay = rooms_.writer(key);
        co_await pause();
      }
    }
  }

  asio::awaitable<void> victim() {
    const AsyncKeyWait wait(std::chrono::steady_clock::now() + kNever, stop_source_.get_token());
    {
      const auto guard = co_await keys_->lock("k");
      const auto stay = rooms_.writer("k");
      co_await pause();
    }
    {
      const auto guard = co_await keys_->lock_shared("s", wait);
      const auto stay = rooms_.reader("s");
      const auto inner = co_await keys_->lock("t", wait);
      const auto inner_stay = rooms_.writer("t");
      co_await pause();
    }
    {
      const auto guards = co_await keys_->lock_all({"t", "a", "k"}, wait);
      EXPECT_EQ(guards.size(), 3U);
      const auto stay = rooms_.writer("a");
      victim_needs_no_more_ = true;
      co_await pause();
    }
  }

  // Destroyed in the opposite order: first the context, then what its coroutines use.
  Rooms rooms_;
  std::unique_ptr<AsyncKeyLock> keys_ = std::make_unique<AsyncKeyLock>();
  std::stop_source stop_source_;
  asio::cancellation_signal signal_;
  int rivals_left_ = 0;
  bool victim_ended_ = false;
  bool victim_needs_no_more_ = false;
  bool victim_failed_ = false;
  std::unique_ptr<asio::io_context> context_ = std::make_unique<asio::io_context>();
};

// Calls `check(scene)` with the scene after n steps, for every possible n.
template <class Check>
void after_every_step(const Check& check) {
  int steps = 0;
  for (bool is_over = false; !is_over; ++steps) {
    SCOPED_TRACE("after step " + std::to_string(steps));
    Scene scene;
    for (int i = 0; i < steps && !is_over; ++i) {
      is_over = !scene.step();
    }
    check(scene);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(steps, kFewestSteps);
}

TEST(AsyncKeySteps, CancelledAfterAnyStepTheVictimHoldsNothingAndTheRivalsContinue) {
  int cancelled = 0;
  after_every_step([&](Scene& scene) {
    scene.cancel();
    scene.run_to_the_end();
    EXPECT_TRUE(scene.victim_ended());
    // co_spawn passes a cancellation through the executor, and so one step later.
    EXPECT_TRUE(scene.victim_failed() || scene.victim_needs_no_more());
    EXPECT_EQ(scene.rivals_left(), 0);
    EXPECT_TRUE(scene.is_clean());
    if (scene.victim_failed()) ++cancelled;
  });
  EXPECT_GE(cancelled, kFewestSteps);
}

TEST(AsyncKeySteps, StoppedAfterAnyStepTheVictimHoldsNothingAndTheRivalsContinue) {
  int stopped = 0;
  after_every_step([&](Scene& scene) {
    scene.stop();
    scene.run_to_the_end();
    EXPECT_TRUE(scene.victim_ended());
    EXPECT_EQ(scene.rivals_left(), 0);
    EXPECT_TRUE(scene.is_clean());
    if (scene.victim_failed()) ++stopped;
  });
  EXPECT_GE(stopped, kFewestSteps);
}

TEST(AsyncKeySteps, WhenTheContextIsDestroyedAfterAnyStepNothingIsLeft) {
  after_every_step([](Scene& scene) {
    scene.destroy_context();
    EXPECT_TRUE(scene.is_clean());
  });
}

TEST(AsyncKeySteps, WithoutInterferenceAllEndWell) {
  Scene scene;
  scene.run_to_the_end();
  EXPECT_TRUE(scene.victim_ended());
  EXPECT_FALSE(scene.victim_failed());
  EXPECT_EQ(scene.rivals_left(), 0);
  EXPECT_TRUE(scene.is_clean());
}

}  // namespace
}  // namespace holdfast::async
