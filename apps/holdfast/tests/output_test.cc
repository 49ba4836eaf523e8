#include <filesystem>
#include <fstream>
#include <set>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class OutputTest : public Workspace {
 protected:
  static std::set<std::string> keys(const nlohmann::json& object) {
    std::set<std::string> all;
    for (const auto& [key, value] : object.items()) {
      all.insert(key);
    }
    return all;
  }
};

using Keys = std::set<std::string>;

const Keys kHolder{"lease_id", "owner",       "reason",       "permits",
                   "token",    "held_for_ms", "time_left_ms", "foreign"};
const Keys kState{"name", "held", "kind", "capacity", "holders"};

TEST_F(OutputTest, EveryCommandExplainsItselfWithExamples) {
  for (const char* const command :
       {"run", "ls", "show", "wait", "acquire", "renew", "release", "steal", "fence", "mark",
        "marked", "clear", "watch", "why", "reset", "doctor", "bench", "torture"}) {
    const Outcome outcome = holdfast({command, "--help"});
    EXPECT_EQ(outcome.status, 0) << command;
    EXPECT_NE(outcome.output.find(std::string("Usage: holdfast ") + command), std::string::npos);
    EXPECT_NE(outcome.output.find(std::string("Examples:\n  ")), std::string::npos) << command;
    EXPECT_NE(holdfast({"--help"}).output.find(std::string("\n  ") + command + " "),
              std::string::npos);
  }
  EXPECT_EQ(holdfast({"--version"}).output, "holdfast " HOLDFAST_VERSION "\n");
}

TEST_F(OutputTest, WhereNobodyListensTheStatusStillSays) {
  for (const char* const streams : {"2>&-", "2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-"}) {
    const Words words{"sh",  "-c", std::string("exec \"$@\" ") + streams, "sh", HOLDFAST_BINARY,
                      "show"};
    EXPECT_EQ(run_to_end(words, environment()).status, 64) << streams;
  }
}

TEST_F(OutputTest, OutputThatCannotBeWrittenEndsWith74) {
  holdfast({"acquire", "--ttl", "1h", "job"});
  for (const char* const words : {"--help", "--version", "run --help", "ls", "ls --json",
                                  "show job", "doctor", "watch job", "acquire free"}) {
    const Outcome outcome = run_to_end(
        {"sh", "-c", std::string("exec \"$0\" ") + words + " >/dev/full", HOLDFAST_BINARY},
        environment());
    EXPECT_EQ(outcome.status, 74) << words;
    EXPECT_NE(outcome.errors.find("cannot write to standard output: No space left"),
              std::string::npos)
        << words << outcome.errors;
  }
  // Nobody knows the id of that lease, so nobody could release it.
  EXPECT_EQ(json({"show", "--json", "free"})["held"], false);
}

TEST_F(OutputTest, AStoreThatNoOtherProcessSeesIsAMistake) {
  const Words commands[] = {{"run", "job", "--", "true"},
                            {"once", "--per", "1h", "job", "--", "true"},
                            {"elect", "job", "--", "true"},
                            {"throttle", "--limit", "1", "--per", "1h", "job"},
                            {"ls"},
                            {"show", "job"},
                            {"wait", "job"},
                            {"acquire", "job"},
                            {"steal", "job", "--confirm", "job"},
                            {"mark", "key", "--ttl", "1m"},
                            {"marked", "key"},
                            {"clear", "key"},
                            {"watch"},
                            {"torture"}};
  for (const Words& command : commands) {
    Words words{"--store", "memory:"};
    words.insert(words.end(), command.begin(), command.end());
    const Outcome outcome = holdfast(words);
    EXPECT_EQ(outcome.status, 64) << command.front();
    EXPECT_NE(outcome.errors.find("no other process sees the locks of memory:"), std::string::npos)
        << outcome.errors;
  }
  const Outcome doctor = holdfast({"--store", "memory:", "doctor"});
  EXPECT_EQ(doctor.status, 0);
  EXPECT_NE(doctor.output.find("each memory: that is opened is a separate store"),
            std::string::npos)
      << doctor.output;
  EXPECT_NE(doctor.output.find("excludes threads of one process only"), std::string::npos)
      << doctor.output;
  EXPECT_EQ(holdfast({"--store", "memory:", "bench", "--count", "1"}).status, 0);
}

TEST_F(OutputTest, MistakesEndWith64AndSayWhereToLook) {
  const Words mistakes[] = {{},
                            {"no-such-command"},
                            {"run"},
                            {"run", "job"},
                            {"run", "--no-such-option", "job", "--", "true"},
                            {"run", "-w", "soon", "job", "--", "true"},
                            {"run", "-w", "5", "job", "--", "true"},
                            {"run", "-n", "-w", "5s", "job", "--", "true"},
                            {"run", "-s", "--permits", "1/2", "job", "--", "true"},
                            {"run", "--permits", "3/2", "job", "--", "true"},
                            {"run", "--ttl", "1ms", "job", "--", "true"},
                            {"run", "--on-lost", "cry", "job", "--", "true"},
                            {"run", "-E", "256", "job", "--", "true"},
                            {"show"},
                            {"show", "one", "two"},
                            {"renew", "job", "not-an-id"},
                            {"fence"},
                            {"fence", "check"},
                            {"fence", "look", "file", "--token", "7"},
                            {"fence", "check", "file"},
                            {"fence", "check", "file", "--token", "-1"},
                            {"mark", "key"},
                            {"mark", "key", "--ttl", "5"},
                            {"marked"},
                            {"clear"},
                            {"watch", "job", "--prefix", "db/"},
                            {"torture", "--faults", "earthquake"},
                            {"torture", "--for", "1ms"},
                            {"torture", "--ttl", "1ms"}};
  for (const Words& words : mistakes) {
    const Outcome outcome = holdfast(words);
    EXPECT_EQ(outcome.status, 64) << ::testing::PrintToString(words) << outcome.errors;
    EXPECT_EQ(outcome.output, "") << ::testing::PrintToString(words);
    EXPECT_NE(outcome.errors.find("--help'."), std::string::npos) << outcome.errors;
  }
  EXPECT_EQ(holdfast({"--store", "no-such-engine:", "ls"}).status, 64);
  EXPECT_EQ(holdfast({"show", ""}).status, 64);
  EXPECT_EQ(holdfast({"show", std::string(1025, 'x')}).status, 64);
}

TEST_F(OutputTest, AStoreThatCannotBeReachedEndsWith69) {
  const Words unreachable{"--store", "sqlite:/no/such/folder/locks.db"};
  const Words commands[] = {{"run", "job", "--", "true"},
                            {"ls"},
                            {"show", "job"},
                            {"wait", "job"},
                            {"acquire", "job"},
                            {"steal", "job", "--confirm", "job"},
                            {"mark", "key", "--ttl", "1m"},
                            {"marked", "key"},
                            {"clear", "key"},
                            {"watch"},
                            {"doctor"},
                            {"bench"},
                            {"torture"}};
  for (const Words& command : commands) {
    Words words = unreachable;
    words.insert(words.end(), command.begin(), command.end());
    EXPECT_EQ(holdfast(words).status, 69) << command.front();
  }
  const Outcome outcome = holdfast({"--store", unreachable[1], "--json", "ls"});
  EXPECT_EQ(nlohmann::json::parse(outcome.errors)["error"]["code"], "unavailable");
  std::ofstream(folder() / "file") << "this is not a database, however long one looks at it";
  EXPECT_EQ(holdfast({"--store", "sqlite:" + (folder() / "file").string(), "ls"}).status, 69);
}

TEST_F(OutputTest, JsonHasTheDocumentedKeys) {
  const auto acquired = json({"acquire", "--json", "--ttl", "1h", "job"});
  EXPECT_EQ(keys(acquired), Keys({"name", "lease_id", "token", "owner", "ttl_ms"}));
  EXPECT_EQ(acquired["ttl_ms"], 3'600'000);
  const std::string lease = acquired["lease_id"];

  Keys with_waiters = kState;
  with_waiters.insert("waiters");
  Keys with_recipes = with_waiters;
  with_recipes.insert({"once", "throttle", "mark"});
  const auto shown = json({"show", "--json", "job"});
  EXPECT_EQ(keys(shown), with_recipes);
  EXPECT_EQ(keys(shown["holders"][0]), kHolder);
  EXPECT_EQ(shown["holders"][0]["token"], acquired["token"]);
  EXPECT_EQ(keys(json({"show", "--json", "free"})), with_recipes);

  Keys why = with_recipes;
  why.insert("deadlock");
  EXPECT_EQ(keys(json({"why", "--json", "job"})), why);
  EXPECT_EQ(keys(json({"reset", "--json", "never"})), Keys({"name", "outcome", "hits"}));

  const auto listed = json({"ls", "--json"});
  EXPECT_EQ(keys(listed), Keys({"names"}));
  EXPECT_EQ(keys(listed["names"][0]), with_waiters);

  EXPECT_EQ(keys(json({"renew", "--json", "job", lease})),
            Keys({"name", "lease_id", "outcome", "ttl_ms"}));
  EXPECT_EQ(keys(json({"wait", "--json", "-n", "job"})), Keys({"name", "free", "waited_ms"}));
  const auto stolen = json({"steal", "--json", "job", "--confirm", "job"});
  EXPECT_EQ(keys(stolen), Keys({"name", "stolen"}));
  EXPECT_EQ(keys(stolen["stolen"][0]), kHolder);
  EXPECT_EQ(keys(json({"release", "--json", "job", lease})), Keys({"name", "lease_id", "outcome"}));
}

TEST_F(OutputTest, DoctorFindsAHealthyStoreHealthy) {
  const Outcome outcome = holdfast({"doctor"});
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(outcome.output.find("failed"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("(from the default)"), std::string::npos) << outcome.output;

  const auto report = json({"doctor", "--json"});
  EXPECT_EQ(keys(report), Keys({"store", "origin", "ok", "checks"}));
  EXPECT_EQ(report["ok"], true);
  Keys names;
  for (const auto& check : report["checks"]) {
    EXPECT_EQ(keys(check), Keys({"name", "status", "detail"}));
    names.insert(check["name"]);
  }
  EXPECT_EQ(names, Keys({"store", "engine", "cross_process", "cross_machine", "durable", "push",
                         "round_trip", "exclusion", "clock", "clock_offset", "stalls", "ttl",
                         "tokens", "folder", "file", "free_space", "file_system"}));
}

TEST_F(OutputTest, DoctorWarnsOfAFileThatAnybodyMayChange) {
  const auto file = folder() / "shared.db";
  const std::string url = "sqlite:" + file.string();
  EXPECT_EQ(holdfast({"--store", url, "ls"}).status, 0);
  std::filesystem::permissions(file, std::filesystem::perms::all);
  const Outcome outcome = holdfast({"--store", url, "doctor"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.output.starts_with("warning  file ")) << "what is wrong comes first";
  EXPECT_NE(outcome.output.find("chmod o-w"), std::string::npos) << outcome.output;
}

TEST_F(OutputTest, BenchMeasures) {
  const auto report = json({"bench", "--json", "--count", "10"});
  EXPECT_EQ(keys(report), Keys({"store", "engine", "rows"}));
  ASSERT_GE(report["rows"].size(), 1U);
  EXPECT_EQ(keys(report["rows"][0]),
            Keys({"what", "count", "ops_per_second", "median_ms", "p99_ms"}));
  EXPECT_EQ(report["rows"][0]["count"], 10);
  EXPECT_NE(holdfast({"bench", "--count", "10"}).output.find("acquire + release"),
            std::string::npos);
}

TEST_F(OutputTest, NothingIsColouredWithoutATerminal) {
  environment()["TERM"] = "xterm";
  holdfast({"acquire", "--ttl", "1h", "job"});
  for (const Words& words : {Words{"ls"}, Words{"show", "job"}, Words{"doctor"}}) {
    EXPECT_EQ(holdfast(words).output.find('\033'), std::string::npos) << words.front();
  }
}

TEST_F(OutputTest, ForeignTextReachesTheTerminalEscaped) {
  const std::string hostile = "x\033[2J\nholdfast: forged\u009b\u202e";
  for (const Words& words : {Words{hostile}, Words{"run", "--" + hostile, "job"},
                             Words{"--store", hostile, "ls"}, Words{"show", hostile, hostile}}) {
    const std::string errors = holdfast(words).errors;
    EXPECT_EQ(errors.find('\033'), std::string::npos) << errors;
    EXPECT_EQ(errors.find("\nholdfast: forged"), std::string::npos) << errors;
    EXPECT_EQ(errors.find("\u202e"), std::string::npos) << errors;
    EXPECT_EQ(errors.find("\u009b"), std::string::npos) << errors;
  }
}

TEST_F(OutputTest, AStrangePathIsPrintedEscapedOnTheOutputToo) {
  const auto strange = folder() / "x\033[2J\nok forged\u202e";
  std::filesystem::create_directory(strange);
  const std::string url = "sqlite:" + (strange / "locks.db").string();
  for (const Words& words :
       {Words{"doctor"}, Words{"doctor", "--json"}, Words{"bench", "--count", "1"}}) {
    Words all = words;
    all.insert(all.end(), {"--store", url});
    const Outcome outcome = holdfast(all);
    EXPECT_EQ(outcome.status, 0) << outcome.output << outcome.errors;
    EXPECT_NE(outcome.output.find("forged"), std::string::npos) << outcome.output;
    for (const char* const hostile : {"\033", "\nok forged", "\u202e"}) {
      EXPECT_EQ(outcome.output.find(hostile), std::string::npos) << outcome.output;
    }
  }
}

TEST_F(OutputTest, JsonEscapesCharactersThatChangeHowALineIsShown) {
  const std::string odd = "a\x7f\u009b\u202e\u2066";
  const std::string output = holdfast({"show", "--json", odd}).output;
  EXPECT_NE(output.find("a\\u007f\\u009b\\u202e\\u2066"), std::string::npos) << output;
  EXPECT_EQ(nlohmann::json::parse(output)["name"], odd);
}

}  // namespace

}  // namespace holdfast::cli::testing
