#include <csignal>
#include <fstream>
#include <iterator>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class FenceTest : public Workspace {
 protected:
  [[nodiscard]] std::string file() const { return (folder() / "report.txt").string(); }
  Outcome check(const std::string& token, const Words& more = {}) {
    Words words{"fence", "check", file(), "--token", token};
    words.insert(words.end(), more.begin(), more.end());
    return holdfast(words);
  }
  [[nodiscard]] std::string report() const { return contents(file()); }
  [[nodiscard]] std::string fence() const { return contents(file() + ".fence"); }

 private:
  static std::string contents(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

TEST_F(FenceTest, AnOlderTokenIsRefusedAndHearsOfTheNewerOne) {
  EXPECT_EQ(check("7").status, 0);
  const Outcome refused = check("6");
  EXPECT_EQ(refused.status, 79);
  EXPECT_EQ(refused.output, "");
  EXPECT_EQ(refused.errors,
            "holdfast: token 6 is refused, token 7 was seen: the lock went to another holder; "
            "acquire it anew\n");
  EXPECT_EQ(check("7").status, 0);
  EXPECT_EQ(check("8").status, 0);
  EXPECT_EQ(check("7").status, 79);
}

TEST_F(FenceTest, ProgramsReadJson) {
  const auto accepted = json({"fence", "check", "--json", file(), "--token", "7"});
  EXPECT_EQ(accepted["outcome"], "accepted");
  EXPECT_EQ(accepted["newest"], 7);
  const auto refused = json({"fence", "check", "--json", file(), "--token", "6"});
  EXPECT_EQ(refused["file"], file());
  EXPECT_EQ(refused["token"], 6);
  EXPECT_EQ(refused["outcome"], "refused");
  EXPECT_EQ(refused["newest"], 7);
}

TEST_F(FenceTest, TheTokenComesFromTheEnvironmentUnlessItIsSaid) {
  environment()["HOLDFAST_TOKEN"] = "7";
  EXPECT_EQ(holdfast({"fence", "check", file()}).status, 0);
  EXPECT_EQ(check("6").status, 79);
  environment()["HOLDFAST_TOKEN"] = "6";
  EXPECT_EQ(holdfast({"fence", "check", file()}).status, 79);
  EXPECT_EQ(check("7").status, 0);
  environment()["HOLDFAST_TOKEN"] = "seven";
  EXPECT_EQ(holdfast({"fence", "check", file()}).status, 64);
  environment().erase("HOLDFAST_TOKEN");
  EXPECT_EQ(holdfast({"fence", "check", file()}).status, 64);
}

TEST_F(FenceTest, ACommandRunsIfTheTokenIsAcceptedAndItsStatusCounts) {
  const auto in_folder = [this](Words words) {
    words.insert(words.begin(), {"env", "-C", folder().string(), HOLDFAST_BINARY});
    return run_to_end(words, environment());
  };
  EXPECT_EQ(in_folder({"fence", "check", "report.txt", "--token", "7", "--", "sh", "-c",
                       "echo seven >report.txt; exit 3"})
                .status,
            3);
  EXPECT_EQ(in_folder({"fence", "check", "report.txt", "--token", "6", "--", "sh", "-c",
                       "echo six >report.txt"})
                .status,
            79);
  EXPECT_EQ(report(), "seven\n");
  EXPECT_EQ(check("7", {"--", "no-such-command"}).status, 127);
  EXPECT_EQ(check("7", {"--", "/"}).status, 126);
}

TEST_F(FenceTest, WhileACommandRunsNobodyElsePasses) {
  const auto inside = start({"fence", "check", file(), "--token", "7", "--", "sh", "-c",
                             "echo ready; read line; echo seven >\"$0\"", file()});
  ASSERT_EQ(inside->read_line(), "ready");
  EXPECT_EQ(check("8", {"-w", "0s"}).status, 75);
  const auto newer = start({"fence", "check", file(), "--token", "8", "-w", "60s", "--", "sh", "-c",
                            "echo eight >\"$0\"", file()});
  inside->write("go on\n");
  EXPECT_EQ(inside->wait(), 0);
  EXPECT_EQ(newer->wait(), 0);
  EXPECT_EQ(report(), "eight\n");
  EXPECT_EQ(check("7").status, 79);
}

TEST_F(FenceTest, AFileThatCannotBeGuardedIsSaid) {
  EXPECT_EQ(holdfast({"fence", "check", "/", "--token", "7"}).status, 64);
  EXPECT_EQ(holdfast({"fence", "check", "/no/such/folder/file", "--token", "7"}).status, 69);
  std::ofstream(file() + ".fence") << "not a fence";
  EXPECT_EQ(check("7").status, 69);
}

// A command without a stream of its own must not get the fence for it.
TEST_F(FenceTest, ACommandWithoutStreamsDoesNotWriteIntoTheFence) {
  const auto without = [this](const std::string& streams, const Words& more) {
    Words words{
        "sh",      "-c", "exec \"$@\" " + streams, "sh", HOLDFAST_BINARY, "fence", "check", file(),
        "--token", "7"};
    words.insert(words.end(), more.begin(), more.end());
    return run_to_end(words, environment()).status;
  };
  const Words talk{"--", "sh", "-c", "echo out; echo err >&2; echo in >&0; exit 3"};
  ASSERT_EQ(check("7").status, 0);
  const std::string before = fence();
  for (const char* const streams : {">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    EXPECT_EQ(without(streams, talk), 3) << streams;
    EXPECT_EQ(fence(), before) << streams;
    EXPECT_EQ(check("6").status, 79) << streams;
  }
  without(">&-", {"--json"});
  EXPECT_EQ(fence(), before);
}

// A link has its fence under its own name, wherever it leads.
TEST_F(FenceTest, ALinkThatIsTurnedKeepsItsFence) {
  const std::string live = (folder() / "live").string();
  const auto turn = [&](const char* token, const char* release) {
    std::filesystem::create_directories(folder() / release);
    return holdfast({"fence", "check", live, "--token", token, "--", "ln", "-sfn", release, live})
        .status;
  };
  EXPECT_EQ(turn("7", "release-7"), 0);
  EXPECT_EQ(turn("8", "release-8"), 0);
  EXPECT_EQ(turn("7", "release-7"), 79);
  EXPECT_EQ(std::filesystem::read_symlink(live), "release-8");
}

// The work of a script under `holdfast run`. It is stopped long before the first renewal, and so
// not in the middle of one, which would keep the store locked.
TEST_F(FenceTest, AHolderThatWasStoppedPastItsTtlIsRefused) {
  const std::string script =
      "echo $$; read line; \"$0\" fence check \"$1\" -- sh -c 'echo first >\"$0\"' \"$1\"; echo $?";
  const Words words{"run", "--ttl", "2s", "--on-lost", "ignore",        "job",
                    "--",  "sh",    "-c", script,      HOLDFAST_BINARY, file()};
  const auto first = start(words);
  const pid_t shell = std::stoi(first->read_line());
  first->signal(SIGSTOP);
  ::kill(shell, SIGSTOP);

  EXPECT_EQ(holdfast({"run", "-w", "60s", "job", "--", "sh", "-c",
                      "\"$0\" fence check \"$1\" -- sh -c 'echo second >\"$0\"' \"$1\"",
                      HOLDFAST_BINARY, file()})
                .status,
            0);

  first->signal(SIGCONT);
  ::kill(shell, SIGCONT);
  first->write("go on\n");
  EXPECT_EQ(first->read_line(), "79");
  EXPECT_EQ(report(), "second\n");
  first->wait();
}

}  // namespace

}  // namespace holdfast::cli::testing
