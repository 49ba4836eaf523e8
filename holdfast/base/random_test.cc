#include <holdfast/base/random.h>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

// More than one buffer's worth, so that refilling is exercised as well.
using Draws = std::array<std::uint64_t, 300>;

Draws draw() {
  Draws words{};
  for (std::uint64_t& word : words) word = random_u64();
  return words;
}

// Returns the first draws of a child made by `fork_function`, which inherits a half-used buffer.
Draws draw_in_child(pid_t (*fork_function)()) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = fork_function();
  if (child == 0) {
    const Draws words = draw();
    const bool sent = ::write(ends[1], words.data(), sizeof(words)) == ssize_t{sizeof(words)};
    ::_exit(sent ? 0 : 1);
  }
  Draws words{};
  EXPECT_GT(child, 0);
  EXPECT_EQ(::close(ends[1]), 0);
  EXPECT_EQ(::read(ends[0], words.data(), sizeof(words)), ssize_t{sizeof(words)});
  EXPECT_EQ(::close(ends[0]), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return words;
}

void expect_child_repeats_nothing(pid_t (*fork_function)()) {
  std::set<std::uint64_t> seen{random_u64()};
  for (const std::uint64_t word : draw_in_child(fork_function)) {
    EXPECT_TRUE(seen.insert(word).second);
  }
  for (const std::uint64_t word : draw_in_child(fork_function)) {
    EXPECT_TRUE(seen.insert(word).second);
  }
  for (const std::uint64_t word : draw()) EXPECT_TRUE(seen.insert(word).second);
}

TEST(Random, DoesNotRepeatAcrossThreads) {
  constexpr std::size_t kThreads = 4;
  std::array<std::vector<std::uint64_t>, kThreads> drawn;
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (std::vector<std::uint64_t>& words : drawn) {
      threads.emplace_back([&words] {
        for (int i = 0; i < 10'000; ++i) words.push_back(random_u64());
      });
    }
  }
  std::set<std::uint64_t> all;
  for (const auto& words : drawn) all.insert(words.begin(), words.end());
  EXPECT_EQ(all.size(), kThreads * 10'000U);
}

TEST(Random, AForkedChildRepeatsNothingOfItsParentOrSibling) {
  expect_child_repeats_nothing(&::fork);
}

TEST(Random, AChildForkedWithoutForkHandlersRepeatsNothing) {
  expect_child_repeats_nothing(&::_Fork);
}

TEST(Random, EveryBitIsSometimesSet) {
  // Each bit stays clear in 200 draws with probability 2^-200.
  std::uint64_t ones = 0;
  std::uint64_t zeros = 0;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t word = random_u64();
    ones |= word;
    zeros |= ~word;
  }
  EXPECT_EQ(std::popcount(ones), 64);
  EXPECT_EQ(std::popcount(zeros), 64);
}

}  // namespace
}  // namespace holdfast::base
