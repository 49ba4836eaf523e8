#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

// Missing, or ended and only not yet collected.
bool is_gone(const std::string& id) {
  std::ifstream file("/proc/" + id + "/stat");
  std::string number;
  std::string name;
  std::string state;
  return !(file >> number >> name >> state) || state == "Z" || state == "X";
}

// Never a group, nor everything: an id that is not known may be -1, and one that was lost is 1.
void kill_process(pid_t id) {
  if (id > 1) {
    kill(id, SIGKILL);
  }
}

// -1 if there is no such process.
pid_t parent_of(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string number;
  std::string name;
  std::string state;
  pid_t parent = -1;
  return file >> number >> name >> state >> parent ? parent : -1;
}

// Returns whether its first thread has started a process that has not been collected.
bool has_child(pid_t id) {
  const std::string number = std::to_string(id);
  std::ifstream file("/proc/" + number + "/task/" + number + "/children");
  std::string child;
  return static_cast<bool>(file >> child);
}

// HOLDFAST_TEST_ROUNDS=1000 for a long run.
int rounds_or(int few) {
  const char* const text = std::getenv("HOLDFAST_TEST_ROUNDS");
  return text != nullptr ? std::atoi(text) : few;
}

// A guardian ends its command some time before the lease is over in the store, which is a part of
// the ttl. The longer that is, the less it matters how busy the machine is.
constexpr const char* kRoomyTtl = "10s";

class GuardianTest : public Workspace {
 protected:
  // A command that ignores TERM, with a child that does, too, and a daemon in a session of its own.
  struct Stubborn {
    std::unique_ptr<Process> run;
    std::string name;
    std::vector<std::string> ids;

    [[nodiscard]] bool gone() const { return std::ranges::all_of(ids, is_gone); }
  };

  Stubborn start_stubborn(const std::string& name, const Words& options) {
    const std::string file = (folder() / (name + ".pids")).string();
    const std::string note = "echo $$ >> " + file + "; ";
    const std::string stay = "trap '' TERM; " + note + "while :; do sleep 1; done";
    std::ofstream(folder() / (name + ".stay")) << stay;
    const std::string other =
        "sh " + (folder() / (name + ".stay")).string() + " > /dev/null 2>&1 &";
    const std::string script = "trap '' TERM; " + note + other + " setsid sh -c '" + other +
                               "'; while [ $(wc -l < " + file +
                               ") -lt 3 ]; do sleep 0.01; done; echo ready; "
                               "while :; do sleep 1; done";
    Words words{"run"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {name, "--", "sh", "-c", script});
    Stubborn stubborn{.run = start(words), .name = name, .ids = {}};
    EXPECT_EQ(stubborn.run->read_line(), "ready") << stubborn.run->rest_of_errors();
    std::ifstream ids(file);
    for (std::string id; ids >> id;) {
      stubborn.ids.push_back(id);
    }
    return stubborn;
  }

  bool is_held(const std::string& name) {
    return base::value_or_throw(open_store()->look(name)).has_value();
  }

  static void kill_left(const Stubborn& stubborn) {
    for (const std::string& id : stubborn.ids) {
      if (!is_gone(id)) {
        kill_process(std::stoi(id));
      }
    }
  }
};

TEST_F(GuardianTest, WhenTheSupervisorIsKilledNothingOfItsCommandLivesOn) {
  for (int round = 0; round < rounds_or(12); ++round) {
    const Stubborn stubborn = start_stubborn("job" + std::to_string(round), {"--ttl", "10m"});
    ASSERT_EQ(stubborn.ids.size(), 3U);
    stubborn.run->signal(SIGKILL);
    EXPECT_TRUE(eventually([&] { return stubborn.gone(); }));
    EXPECT_TRUE(is_held(stubborn.name)) << "it outlived its lease";
    kill_left(stubborn);
  }
}

TEST_F(GuardianTest, WhileTheSupervisorIsStoppedNothingOfItsCommandOutlivesTheLease) {
  constexpr int kTogether = 4;
  for (int round = 0; round < rounds_or(kTogether); round += kTogether) {
    std::vector<Stubborn> all;
    for (int i = 0; i < kTogether; ++i) {
      all.push_back(start_stubborn("job" + std::to_string(round + i), {"--ttl", kRoomyTtl}));
      ASSERT_EQ(all.back().ids.size(), 3U);
    }
    for (const Stubborn& stubborn : all) {
      stubborn.run->signal(SIGSTOP);
    }
    for (const Stubborn& stubborn : all) {
      EXPECT_TRUE(eventually([&] { return !is_held(stubborn.name); }));
      EXPECT_TRUE(stubborn.gone()) << "it outlived its lease";
      stubborn.run->signal(SIGCONT);
      kill_left(stubborn);
      EXPECT_EQ(stubborn.run->wait(), 79);
    }
  }
}

TEST_F(GuardianTest, WhileTheSupervisorIsStoppedACommandGetsTermBeforeTheLeaseEnds) {
  const auto run =
      start({"run", "--ttl", kRoomyTtl, "job", "--", "sh", "-c",
             "trap 'echo TERM; exit 0' TERM; echo ready; while :; do sleep 0.02; done"});
  EXPECT_EQ(run->read_line(), "ready");
  run->signal(SIGSTOP);
  EXPECT_EQ(run->read_line(), "TERM");
  run->signal(SIGCONT);
  run->wait();
}

TEST_F(GuardianTest, ALossEndsDaemonsToo) {
  const Stubborn stubborn = start_stubborn("job", {"--ttl", kRoomyTtl, "--kill-after", "100ms"});
  ASSERT_EQ(stubborn.ids.size(), 3U);
  EXPECT_EQ(holdfast({"steal", "job", "--confirm", "job"}).status, 0);
  EXPECT_EQ(stubborn.run->wait(), 79);
  EXPECT_TRUE(stubborn.gone());
}

TEST_F(GuardianTest, WhenTheGuardianIsKilledTheCommandEnds) {
  const Stubborn stubborn = start_stubborn("job", {"--ttl", "10m"});
  ASSERT_EQ(stubborn.ids.size(), 3U);
  const pid_t guardian = parent_of(std::stoi(stubborn.ids.front()));
  ASSERT_GT(guardian, 1);
  ASSERT_EQ(parent_of(guardian), stubborn.run->id());
  kill_process(guardian);
  EXPECT_EQ(stubborn.run->wait(), 128 + SIGKILL);
  // The daemon may live on; of the other two one is in the command's group.
  EXPECT_TRUE(eventually([&] {
    return is_gone(stubborn.ids.front()) && std::ranges::count_if(stubborn.ids, is_gone) >= 2;
  }));
  EXPECT_FALSE(is_held("job"));
  kill_left(stubborn);
}

TEST_F(GuardianTest, ARunHasAGuardianOnlyWhileItHoldsTheName) {
  const auto holder = start_holder({"job"});
  EXPECT_TRUE(has_child(holder->id()));
  const auto waiter = start({"run", "-v", "job", "--", "true"});
  EXPECT_NE(waiter->read_error_line().find("waiting"), std::string::npos);
  EXPECT_FALSE(has_child(waiter->id()));
}

TEST_F(GuardianTest, AStopAndContinueWithinTheLeaseHarmsNothing) {
  const auto holder = start_holder({"--ttl", "10m", "job"});
  holder->signal(SIGSTOP);
  holder->signal(SIGCONT);
  EXPECT_EQ(holder->wait(), 0);
}

class BackgroundTest : public Workspace {
 protected:
  bool is_held() { return json({"show", "--json", "job"})["held"]; }
};

TEST_F(BackgroundTest, IsKeptWithoutTheLockUnlessAskedOtherwise) {
  const Outcome outcome =
      holdfast({"run", "job", "--", "sh", "-c", "sleep 60 > /dev/null 2>&1 & echo $!; exit 3"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_FALSE(is_held());
  const std::string id = outcome.output.substr(0, outcome.output.find('\n'));
  EXPECT_FALSE(is_gone(id));
  kill_process(std::stoi(id));
}

TEST_F(BackgroundTest, ACommandThatHasEndedIsNotLeftAsAZombie) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what nobody has collected comes here
  const Outcome outcome = holdfast({"run", "job", "--", "sh", "-c", "echo $$"});
  EXPECT_EQ(waitpid(std::stoi(outcome.output), nullptr, 0), -1);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(BackgroundTest, ADaemonThatHasEndedIsNotLeftAsAZombieWhileTheCommandRuns) {
  const auto run = start({"run", "job", "--", "sh", "-c",
                          "setsid sh -c 'sh -c \"echo \\$\\$\" & exit'; read line; exit 3"});
  const std::string id = run->read_line();
  ASSERT_GT(std::atoi(id.c_str()), 1);
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists("/proc/" + id); }));
  run->write("end\n");
  EXPECT_EQ(run->wait(), 3);
}

TEST_F(BackgroundTest, CanBeEndedWithTheCommand) {
  const Outcome outcome =
      holdfast({"run", "--background", "kill", "job", "--", "sh", "-c",
                "setsid sh -c 'echo $$; exec sleep 600 > /dev/null 2>&1' & sleep 0.1; exit 3"});
  EXPECT_EQ(outcome.status, 3) << outcome.errors;
  EXPECT_FALSE(is_held());
  const std::string id = outcome.output.substr(0, outcome.output.find('\n'));
  EXPECT_TRUE(id.empty() || is_gone(id));
}

TEST_F(BackgroundTest, CanBeWaitedForWithTheLockHeld) {
  const auto run =
      start({"run", "--background", "wait", "job", "--", "sh", "-c",
             "exec 3<&0; setsid sh -c 'echo ready; read line <&3; echo done' & exit 3"});
  EXPECT_EQ(run->read_line(), "ready");
  EXPECT_TRUE(is_held());
  run->write("go\n");
  EXPECT_EQ(run->read_line(), "done");
  EXPECT_EQ(run->wait(), 3);
  EXPECT_FALSE(is_held());
}

TEST_F(BackgroundTest, ASignalEndsTheWaitForIt) {
  const auto run = start({"run", "--background", "wait", "job", "--", "sh", "-c",
                          "setsid sh -c 'echo ready; exec sleep 600' & exit 3"});
  EXPECT_EQ(run->read_line(), "ready");
  run->signal(SIGTERM);
  const int status = run->wait();
  EXPECT_TRUE(status == 3 || status == 128 + SIGTERM) << status;
  EXPECT_FALSE(is_held());
}

TEST_F(BackgroundTest, ASignalThatEndsTheCommandIsForWhatItLeavesBehindToo) {
  const auto run = start({"run", "--background", "wait", "job", "--", "sh", "-c",
                          "trap 'exit 3' TERM; setsid sh -c 'echo ready; exec sleep 600' & "
                          "while :; do sleep 0.02; done"});
  EXPECT_EQ(run->read_line(), "ready");
  run->signal(SIGTERM);
  EXPECT_EQ(run->wait(), 3);
  EXPECT_FALSE(is_held());
}

}  // namespace

}  // namespace holdfast::cli::testing
