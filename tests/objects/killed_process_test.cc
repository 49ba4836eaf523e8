// A process is killed at a time that nobody has chosen: what a completed save wrote is there.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/sqlite/sqlite_repository.h>
#include <holdfast/objects/object_host.h>

namespace holdfast::tests {
namespace {

using base::value_or_throw;

constexpr int kObjects = 30;

class Counter : public objects::Object {
 public:
  [[nodiscard]] nlohmann::json to_data() const override { return value_; }
  void from_data(const nlohmann::json& data) override { data.get_to(value_); }
  std::int64_t raise_to(std::int64_t value) { return value_ = std::max(value_, value); }
  [[nodiscard]] std::int64_t value() const { return value_; }

 private:
  std::int64_t value_ = 0;
};

struct CounterHost {
  explicit CounterHost(const std::filesystem::path& file)
      : host(value_or_throw(engines::sqlite::open_repository({.file = file})),
             {.store_wait = std::chrono::seconds(60), .save_every = std::chrono::milliseconds(3)}) {
    host.register_type<Counter>("counter", {.calls = objects::Calls::serial});
  }
  objects::ObjectHost host;
};

// Raises all counters round by round, and says which round a completed save has covered; beside the
// saves that happen by themselves.
[[noreturn]] void count_for_ever(const std::filesystem::path& file, std::int64_t first, int out) {
  CounterHost counters(file);
  for (std::int64_t round = first;; ++round) {
    for (int i = 0; i < kObjects; ++i) {
      value_or_throw(counters.host.call<&Counter::raise_to>(std::to_string(i), round));
    }
    if (round % 3 == 0) {
      value_or_throw(counters.host.save_all());
      if (::write(out, &round, sizeof round) != sizeof round) ::_exit(1);
    }
  }
}

// The last round that it said was saved.
std::int64_t run_until_killed(const std::filesystem::path& file, std::int64_t first, int reports) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = ::fork();  // while there are no threads
  if (child == 0) {
    ::close(pipe[0]);
    try {
      count_for_ever(file, first, pipe[1]);
    } catch (...) {
      ::_exit(1);
    }
  }
  ::close(pipe[1]);
  std::int64_t saved = 0;
  int heard = 0;
  while (heard < reports && ::read(pipe[0], &saved, sizeof saved) == sizeof saved) ++heard;
  ::kill(child, SIGKILL);
  while (::read(pipe[0], &saved, sizeof saved) == sizeof saved) {
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
  ::close(pipe[0]);
  return saved;
}

TEST(KilledProcess, WhatACompletedSaveWroteIsThere) {
  const TemporaryFolder folder;
  const auto file = folder / "counters.db";
  std::int64_t saved = 0;
  for (int kill = 0; kill < 8; ++kill) {
    saved = run_until_killed(file, saved + 1, 1 + kill * 3);
    ASSERT_GT(saved, 0);
    CounterHost counters(file);
    for (int i = 0; i < kObjects; ++i) {
      EXPECT_GE(value_or_throw(counters.host.call<&Counter::value>(std::to_string(i))), saved);
    }
  }
}

}  // namespace
}  // namespace holdfast::tests
