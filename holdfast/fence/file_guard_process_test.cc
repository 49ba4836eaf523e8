#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/fence/file_guard.h>
#include <holdfast/fence/testing_support.h>

namespace holdfast::fence {
namespace {

using base::FencingToken;
using namespace std::chrono_literals;
using testing::answer;
using testing::contents;

// Returns contents that show whether they are complete, and the token they were written with.
std::string contents_of(std::uint64_t token) {
  std::string text;
  for (int i = 0; i < 4'000; ++i) {
    text += std::to_string(token) + '\n';
  }
  return text;
}

std::uint64_t token_of(const std::string& text) { return text.empty() ? 0 : std::stoull(text); }

class FileGuardProcessTest : public ::testing::Test {
 protected:
  [[nodiscard]] FileGuard guard() const {
    return base::value_or_throw(FileGuard::open(file_, {.wait = 60s}));
  }
  pid_t start(const std::function<int()>& body) const {
    std::fflush(nullptr);  // or the child would write it too
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(body());
    }
    return child;
  }
  // Limits the files of the calling process. A write beyond the limit raises SIGXFSZ.
  static void limit_files_to(rlim_t bytes) {
    const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
    const rlimit no_core{};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::setrlimit(RLIMIT_CORE, &no_core);
  }
  static int wait_for(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // Checks without waiting.
  [[nodiscard]] std::string check(std::uint64_t token) const {
    return answer(
        base::value_or_throw(FileGuard::open(file_, {.wait = 0s})).check(FencingToken{token}));
  }

  tests::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_ / "report.txt";
};

TEST_F(FileGuardProcessTest, ReadersNeverSeeAnOlderVersion) {
  constexpr int kProcesses = 4;
  constexpr std::uint64_t kRounds = 60;
  const FileGuard mine = guard();
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(start([&] {
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        const std::uint64_t token = round * kProcesses + static_cast<std::uint64_t>(p) + 1;
        const std::string said = answer(mine.write(FencingToken{token}, contents_of(token)));
        if (said != "accepted" && said != "lost") {
          return 1;
        }
      }
      return 0;
    }));
  }
  std::uint64_t seen = 0;
  int went_back = 0;
  int torn = 0;
  int failed = 0;
  while (!children.empty()) {
    const std::string text = contents(file_);
    const std::uint64_t token = token_of(text);
    went_back += token < seen ? 1 : 0;
    torn += !text.empty() && text != contents_of(token) ? 1 : 0;
    seen = token;
    int status = 0;
    if (const pid_t ended = ::waitpid(-1, &status, WNOHANG); ended > 0) {
      std::erase(children, ended);
      failed += status != 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(went_back, 0);
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(token_of(contents(file_)), kProcesses * kRounds) << "the newest was written last";
  EXPECT_EQ(base::value_or_throw(mine.newest()), FencingToken{kProcesses * kRounds});
}

// Killed at any point: the file is complete, no token in it was forgotten, and the next one enters.
TEST_F(FileGuardProcessTest, AKilledWriterLeavesACompleteFileAndItsToken) {
  const FileGuard mine = guard();
  std::uint64_t newest = 0;
  for (int round = 0; round < 20; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t writer = start([&] {
      for (std::uint64_t token = newest + 1;; ++token) {
        if (!mine.write(FencingToken{token}, contents_of(token)) ||
            ::write(pipe[1], &token, sizeof token) != sizeof token) {
          return 1;
        }
      }
    });
    ::close(pipe[1]);
    std::uint64_t reported = 0;
    for (int i = 0; i <= round % 3; ++i) {
      ASSERT_EQ(::read(pipe[0], &reported, sizeof reported), ssize_t{sizeof reported});
    }
    ::kill(writer, SIGKILL);
    EXPECT_EQ(wait_for(writer), 128 + SIGKILL);
    ::close(pipe[0]);

    const std::string text = contents(file_);
    EXPECT_EQ(text, contents_of(token_of(text)));
    EXPECT_GE(token_of(text), reported);
    const auto remembered = mine.newest();
    ASSERT_TRUE(remembered && *remembered) << answer(remembered);
    EXPECT_GE((*remembered)->value(), token_of(text));
    EXPECT_EQ(answer(mine.write(FencingToken{reported - 1}, "an older one")), "lost");
    newest = (*remembered)->value();
    EXPECT_EQ(answer(mine.write(**remembered, text)), "accepted") << "the lock died with it";
  }
}

TEST_F(FileGuardProcessTest, AWriterThatIsStoppedInsideBlocksOthers) {
  const pid_t writer = start([&] {
    auto pass = guard().enter(FencingToken{7});
    ::raise(SIGSTOP);
    return pass && pass->write("seven") ? 0 : 1;
  });
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, WUNTRACED), writer);
  ASSERT_TRUE(WIFSTOPPED(status));
  const auto impatient = FileGuard::open(file_, {.wait = 0s});
  EXPECT_EQ(answer(impatient->write(FencingToken{8}, "eight")), "timed_out");
  ::kill(writer, SIGCONT);
  EXPECT_EQ(wait_for(writer), 0);
  EXPECT_EQ(answer(guard().write(FencingToken{8}, "eight")), "accepted");
  EXPECT_EQ(contents(file_), "eight");
}

TEST_F(FileGuardProcessTest, ALockThatIsHandedDownIsHeldUntilTheProgramEnds) {
  int input[2];
  int output[2];
  ASSERT_EQ(::pipe2(input, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(output, O_CLOEXEC), 0);
  const pid_t program = start([&] {
    auto pass = guard().enter(FencingToken{7});
    if (!pass || !pass->hand_down()) {
      return 1;
    }
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::execlp("cat", "cat", static_cast<char*>(nullptr));
    return 127;
  });
  ::close(input[0]);
  ::close(output[1]);
  char said = 'x';
  ASSERT_EQ(::write(input[1], &said, 1), 1);
  ASSERT_EQ(::read(output[0], &said, 1), 1) << "cat runs";
  const auto impatient = FileGuard::open(file_, {.wait = 0s});
  EXPECT_EQ(answer(impatient->check(FencingToken{8})), "timed_out");
  ::close(input[1]);
  EXPECT_EQ(wait_for(program), 0);
  EXPECT_EQ(answer(impatient->check(FencingToken{8})), "accepted");
  ::close(output[0]);
}

TEST_F(FileGuardProcessTest, ALockThatIsHandedDownStaysAfterThePassEnds) {
  int input[2];
  ASSERT_EQ(::pipe2(input, O_CLOEXEC), 0);
  std::optional<FilePass> pass = base::value_or_throw(guard().enter(FencingToken{7}));
  ASSERT_TRUE(pass->hand_down());
  const pid_t program = start([&] {
    ::dup2(input[0], STDIN_FILENO);
    ::execlp("cat", "cat", static_cast<char*>(nullptr));
    return 127;
  });
  pass.reset();
  EXPECT_EQ(check(8), "timed_out");
  ::close(input[1]);
  EXPECT_EQ(wait_for(program), 0);
  EXPECT_EQ(check(8), "accepted");
  ::close(input[0]);
}

// Such as a pool worker that is forked while a file is being written.
TEST_F(FileGuardProcessTest, AChildForkedMeanwhileDoesNotHoldTheLock) {
  int input[2];
  ASSERT_EQ(::pipe2(input, O_CLOEXEC), 0);
  std::optional<FilePass> pass = base::value_or_throw(guard().enter(FencingToken{7}));
  const pid_t worker = start([&] {
    ::close(input[1]);
    char byte = 0;
    return ::read(input[0], &byte, 1) == 0 ? 0 : 1;
  });
  pass.reset();
  EXPECT_EQ(check(8), "accepted");
  ::close(input[1]);
  EXPECT_EQ(wait_for(worker), 0);
  ::close(input[0]);
}

TEST_F(FileGuardProcessTest, AChildForkedMeanwhileDoesNotReleaseTheLock) {
  std::optional<FilePass> pass = base::value_or_throw(guard().enter(FencingToken{7}));
  const pid_t worker = start([&] {
    pass.reset();
    return 0;
  });
  EXPECT_EQ(wait_for(worker), 0);
  EXPECT_EQ(check(8), "timed_out");
  pass.reset();
  EXPECT_EQ(check(8), "accepted");
}

// A disk that is full after the first half of the first token.
TEST_F(FileGuardProcessTest, AnIncompleteFirstTokenIsNotCorruption) {
  const pid_t writer = start([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    limit_files_to(30);
    return answer(guard().write(FencingToken{9}, "nine")) == "unavailable" ? 0 : 1;
  });
  EXPECT_EQ(wait_for(writer), 0);
  ASSERT_EQ(std::filesystem::file_size(guard().fence_file()), 30U);
  EXPECT_EQ(base::value_or_throw(guard().newest()), std::nullopt);
  EXPECT_EQ(answer(guard().write(FencingToken{7}, "seven")), "accepted");
  EXPECT_EQ(check(6), "lost");
}

// Killed in the middle of the contents: others cannot read the incomplete file.
TEST_F(FileGuardProcessTest, OnlyTheOwnerCanReadContentsThatAreNotComplete) {
  testing::put(file_, "old");
  std::filesystem::permissions(file_, std::filesystem::perms(0644));
  const pid_t writer = start([&] {
    limit_files_to(100);
    return answer(guard().write(FencingToken{7}, std::string(200, 'x'))) == "accepted" ? 0 : 1;
  });
  EXPECT_EQ(wait_for(writer), 128 + SIGXFSZ);
  const std::filesystem::path scratch = folder_ / "report.txt.fence-new";
  ASSERT_EQ(contents(scratch), std::string(100, 'x'));
  EXPECT_EQ(std::filesystem::status(scratch).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(contents(file_), "old");
}

}  // namespace
}  // namespace holdfast::fence
