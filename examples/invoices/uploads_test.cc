#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>
#include <spawn.h>

#include "exit_status.h"
#include "testing_support.h"

// Starts several processes of the program, INVOICES_PROGRAM.
namespace invoices {
namespace {

using Words = std::vector<std::string>;

class Uploads : public FolderTest {
 protected:
  // Creates a scan that differs from all others, and returns its path.
  std::string scan(int number) {
    const auto file = in_folder("scan" + std::to_string(number) + ".pdf");
    std::ofstream(file) << "scan number " << number;
    return file.string();
  }

  Words command(const Words& rest) const {
    Words words = {INVOICES_PROGRAM, "--store", "sqlite:" + in_folder("locks.db").string(), "--db",
                   database().string()};
    words.insert(words.end(), rest.begin(), rest.end());
    return words;
  }

  // The program's output goes to the file `output` in the folder.
  pid_t start(const Words& words, const std::string& output) const {
    std::vector<char*> arguments;
    for (const std::string& word : words) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const std::string file = in_folder(output).string();
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, file.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t pid = -1;
    const int error = posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      throw std::system_error(error, std::generic_category(), words[0]);
    }
    return pid;
  }

  static int status_of(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  int run(const Words& rest) { return status_of(start(command(rest), "output")); }

  [[nodiscard]] std::string said(const std::string& output = "output") const {
    std::ostringstream text;
    text << std::ifstream(in_folder(output)).rdbuf();
    return text.str();
  }
};

std::ptrdiff_t count(const std::string& text, const std::string& part) {
  std::ptrdiff_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST_F(Uploads, ExactlyOneOfThirtyTwoUploadsInFourProcessesIsStored) {
  constexpr int kProcesses = 4;
  constexpr int kEach = 8;
  std::vector<pid_t> processes;
  for (int process = 0; process < kProcesses; ++process) {
    Words words = {"--wait", "60s",  "--work",    "20ms",  "add",
                   "acct",   "R-17", "ACME Inc.", "12.50", "2024-02-28"};
    for (int i = 0; i < kEach; ++i) {
      words.push_back(scan(process * kEach + i));
    }
    processes.push_back(start(command(words), "output" + std::to_string(process)));
  }
  std::string all;
  for (int process = 0; process < kProcesses; ++process) {
    EXPECT_GE(status_of(processes[static_cast<std::size_t>(process)]), 0);
    all += said("output" + std::to_string(process));
  }
  EXPECT_EQ(count(all, ": unique"), 1) << all;
  EXPECT_EQ(count(all, ": exact duplicate of R-17"), kProcesses * kEach - 1) << all;
  EXPECT_EQ(stored().size(), 1U);
}

TEST_F(Uploads, AFileThatIsUploadedSeveralTimesIsStoredOnce) {
  const std::string file = scan(1);
  Words words = {"--work", "5ms", "add", "acct", "R-17", "ACME Inc.", "12.50", "2024-02-28"};
  words.insert(words.end(), 8, file);
  EXPECT_EQ(run(words), kStored) << said();
  EXPECT_EQ(count(said(), ": unique"), 1) << said();
  EXPECT_EQ(stored().size(), 1U);
}

TEST_F(Uploads, TheProgramSaysWhatItFound) {
  const auto add = [&](const std::string& number, const std::string& vendor) {
    return run({"add", "acct", number, vendor, "12.50", "2024-02-28", scan(1)});
  };
  EXPECT_EQ(add("R-17", "ACME Inc."), kStored) << said();
  EXPECT_EQ(add("R-17", "Acme"), kDuplicate);
  EXPECT_TRUE(said().contains("exact duplicate of R-17, ACME Inc., 12.50, 2024-02-28")) << said();
  EXPECT_EQ(add("R-18", "ACME"), kDuplicate);
  EXPECT_TRUE(said().contains("near duplicate of R-17")) << said();
  EXPECT_EQ(run({"check", "acct", "R-18", "ACME", "99", "2024-02-28"}), 0) << said();
  EXPECT_EQ(run({"list"}), 0);
  EXPECT_EQ(said(), "acct: R-17, ACME Inc., 12.50, 2024-02-28\n");
}

TEST_F(Uploads, BadInputIsReportedAndChangesNothing) {
  EXPECT_EQ(run({"add", "acct", "R-17", "ACME", "12.505", "2024-02-28", scan(1)}), kUsage);
  EXPECT_TRUE(said().contains("'12.505' is not an amount")) << said();
  EXPECT_EQ(run({"add", "acct", "R-17", "ACME", "12.50", "2023-02-29", scan(1)}), kUsage);
  EXPECT_TRUE(said().contains("is not a day")) << said();
  EXPECT_EQ(run({"add", "acct", "R-17", "ACME", "12.50", "2024-02-28", "/nowhere/scan"}), kUsage);
  EXPECT_TRUE(said().contains("cannot read the file")) << said();
  EXPECT_EQ(run({"add", "acct"}), kUsage);
  EXPECT_EQ(run({"--when-unavailable", "pray", "list"}), kUsage);
  EXPECT_TRUE(stored().empty());
}

TEST_F(Uploads, EveryPolicyCanBeChosen) {
  for (const char* policy : {"fail", "proceed", "local"}) {
    EXPECT_EQ(run({"--when-unavailable", policy, "add", "acct", "R-17", policy, "12.50",
                   "2024-02-28", scan(1)}),
              kStored)
        << said();
  }
}

TEST_F(Uploads, AFileThatIsMarkedByACommandIsNotProcessedUntilItIsCleared) {
  const Words upload = {"add", "acct", "R-17", "ACME Inc.", "12.50", "2024-02-28", scan(1)};
  EXPECT_EQ(run({"is-processing", "acct", scan(1)}), kNotProcessing) << said();
  EXPECT_EQ(run({"mark-processing", "acct", scan(1), "--user", "anna"}), 0) << said();
  EXPECT_EQ(run({"is-processing", "acct", scan(1)}), 0) << said();
  EXPECT_EQ(said(), "processing\n");
  EXPECT_EQ(run({"is-processing", "another", scan(1)}), kNotProcessing);
  EXPECT_EQ(run(upload), kTryAgain) << said();
  EXPECT_EQ(run({"clear-processing", "acct", scan(1)}), 0) << said();
  EXPECT_EQ(run(upload), kStored) << said();
  EXPECT_EQ(run({"mark-processing", "acct", "/nowhere/scan"}), kUsage);
}

TEST_F(Uploads, HelpNamesEveryCommand) {
  EXPECT_EQ(run({"--help"}), 0);
  for (const char* word : {"add", "check", "list", "mark-processing", "is-processing",
                           "clear-processing", "--store", "--db", "--when-unavailable"}) {
    EXPECT_TRUE(said().contains(word)) << word;
  }
}

}  // namespace
}  // namespace invoices
