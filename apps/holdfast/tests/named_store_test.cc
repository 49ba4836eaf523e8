#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <tests/support/redis_server.h>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class NamedStoreTest : public Workspace {
 protected:
  void configure(const std::string& text) {
    std::filesystem::create_directories(folder() / ".config/holdfast");
    std::ofstream(folder() / ".config/holdfast/config") << text;
  }

  [[nodiscard]] std::string file_url(const std::string& name) const {
    return "sqlite:" + (folder() / name).string();
  }

  const Words run_{"run", "job", "--", "sh", "-c", "echo $HOLDFAST_STORE"};
};

TEST_F(NamedStoreTest, AStoreIsFoundByItsName) {
  configure("default = two\n[one]\nurl = " + file_url("one.db") +
            "\n[two]\nurl = " + file_url("two.db") + "\n");
  Words words{"--store", "one"};
  words.insert(words.end(), run_.begin(), run_.end());
  EXPECT_EQ(holdfast(words).output, file_url("one.db") + "\n");
  EXPECT_EQ(holdfast(run_).output, file_url("two.db") + "\n");
  environment()["HOLDFAST_STORE"] = "one";
  EXPECT_EQ(holdfast(run_).output, file_url("one.db") + "\n");
  const Outcome doctor = holdfast({"doctor"});
  EXPECT_NE(doctor.output.find("(from one in " + (folder() / ".config/holdfast/config").string()),
            std::string::npos)
      << doctor.output;
}

TEST_F(NamedStoreTest, AnUnknownNameIsAMistakeThatNamesWhatExists) {
  configure("[production]\nurl = sqlite:/x\n");
  const Outcome outcome = holdfast({"--store", "prodution", "ls"});
  EXPECT_EQ(outcome.status, 64);
  EXPECT_NE(outcome.errors.find("there is no store 'prodution': did you mean production?"),
            std::string::npos)
      << outcome.errors;
  configure("nonsense\n");
  EXPECT_EQ(holdfast({"ls"}).status, 64);
  EXPECT_EQ(holdfast({"--store", file_url("x.db"), "ls"}).status, 0) << "it needs no configuration";
}

TEST_F(NamedStoreTest, AnotherFileCanBeNamed) {
  environment()["HOLDFAST_CONFIG"] = (folder() / "other").string();
  std::ofstream(folder() / "other") << "default=a\n[a]\nurl=" + file_url("a.db");
  EXPECT_EQ(holdfast(run_).output, file_url("a.db") + "\n");
}

TEST_F(NamedStoreTest, AFolderIsNoConfiguration) {
  environment()["HOLDFAST_CONFIG"] = folder().string();
  const Outcome outcome = holdfast({"ls"});
  EXPECT_EQ(outcome.status, 69);
  EXPECT_NE(outcome.errors.find("cannot read " + folder().string()), std::string::npos)
      << outcome.errors;
}

// A server with a password, which no process list and no environment of a command shows.
class PasswordTest : public NamedStoreTest {
 protected:
  PasswordTest() { std::ofstream(folder() / "password") << "se/cret\n"; }

  tests::RedisServer server_{{.arguments = {"--requirepass", "se/cret"}}};
  const std::string url_ = "redis://127.0.0.1:" + std::to_string(server_.port());
  const Words show_{"run", "job", "--", "sh", "-c", "env | grep -h cret; echo $HOLDFAST_STORE"};
};

TEST_F(PasswordTest, IsReadFromAFileOrAVariableThatTheConfigurationNames) {
  configure("[file]\nurl = " + url_ + "\npassword_file = " + (folder() / "password").string() +
            "\n[env]\nurl = " + url_ + "\npassword_env = OURS\n");
  environment()["HOLDFAST_STORE"] = "file";
  EXPECT_EQ(holdfast(show_).output, "file\n") << "a command finds the store by its name";
  EXPECT_EQ(holdfast({"run", "a", "--", HOLDFAST_BINARY, "run", "b", "--", "echo", "x"}).output,
            "x\n");
  environment()["HOLDFAST_STORE"] = "env";
  const Outcome unset = holdfast({"ls"});
  EXPECT_EQ(unset.status, 69);
  EXPECT_NE(unset.errors.find("the variable OURS"), std::string::npos) << unset.errors;
  environment()["OURS"] = "se/cret";
  EXPECT_EQ(holdfast({"ls"}).status, 0);
}

TEST_F(PasswordTest, OfAUrlIsReadFromTheEnvironment) {
  environment()["HOLDFAST_STORE"] = url_;
  EXPECT_EQ(holdfast({"ls"}).status, 69);
  environment()["HOLDFAST_PASSWORD_FILE"] = (folder() / "password").string();
  EXPECT_EQ(holdfast({"ls"}).status, 0);
  environment().erase("HOLDFAST_PASSWORD_FILE");
  environment()["HOLDFAST_PASSWORD"] = "se/cret";
  EXPECT_EQ(holdfast(show_).output.find("cret"), std::string::npos);
  EXPECT_EQ(holdfast({"doctor", "--json"}).output.find("cret"), std::string::npos);
}

TEST_F(PasswordTest, InAnArgumentIsSomethingTheDoctorWarnsOf) {
  const std::string with = "redis://:se%2Fcret@127.0.0.1:" + std::to_string(server_.port());
  const Outcome outcome = holdfast({"--store", with, "doctor"});
  EXPECT_NE(outcome.output.find("password_file"), std::string::npos) << outcome.output;
}

TEST_F(PasswordTest, DoctorNamesEachCheckOfAServerOnce) {
  environment()["HOLDFAST_PASSWORD"] = "se/cret";
  const auto report = json({"--store", url_, "doctor", "--json"});
  std::vector<std::string> names;
  for (const auto& check : report["checks"]) {
    names.push_back(check["name"]);
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end()) << report;
  EXPECT_TRUE(std::ranges::binary_search(names, "clock_offset")) << report;
}

}  // namespace

}  // namespace holdfast::cli::testing
