#include <csignal>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class ExitStatusTest : public Workspace {
 protected:
  // The codes in the table of the manual.
  static std::set<std::string> documented() {
    std::ifstream manual(HOLDFAST_MANUAL);
    const std::regex row("^([0-9]+(\\+n)?);T\\{$");
    std::set<std::string> codes;
    bool inside = false;
    for (std::string line; std::getline(manual, line);) {
      inside = line.starts_with(".SH") ? line == ".SH \"EXIT STATUS\"" : inside;
      if (std::smatch match; inside && std::regex_match(line, match, row)) {
        codes.insert(match[1]);
      }
    }
    return codes;
  }

  // Returns the status of a line of a shell in which "$0" is the program.
  int status_of(const std::string& line) {
    return run_to_end({"sh", "-c", line, HOLDFAST_BINARY}, environment()).status;
  }

  // A line in which these words wait for something, as they say on the error stream, and get TERM.
  [[nodiscard]] std::string interrupted(const std::string& words) const {
    const std::string pipe = (folder() / "said").string();
    return "rm -f " + pipe + "; mkfifo " + pipe + "; exec 3<>" + pipe + "; \"$0\" " + words +
           " 2>&3 & read -r said <&3; kill -TERM $!; wait $!";
  }
};

using Line = std::pair<std::string, std::string>;  // a code of the manual, and what ends with it

TEST_F(ExitStatusTest, EveryCodeOfTheManualIsProduced) {
  // A server that may evict what it keeps, and has a list under a name.
  const tests::RedisServer cache(
      {.arguments = {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}});
  tests::RedisClient(cache.port()).run({"RPUSH", "list", "item"});
  ASSERT_EQ(holdfast({"acquire", "--ttl", "1h", "busy"}).status, 0);
  std::vector<Line> lines = {
      {"0", "\"$0\" run job -- true"},
      {"0", "\"$0\" once --per 1h job -- true && \"$0\" once --per 1h job -- false"},
      {"1", "\"$0\" marked key"},
      {"1", "\"$0\" --store " + cache.url() + " doctor"},
      {"64", "\"$0\" run job"},
      {"69", "\"$0\" --store sqlite:/no/such/folder/locks.db ls"},
      {"69", "\"$0\" --store sqlite:/no/such/folder/locks.db elect post -- true"},
      {"69", "\"$0\" fence check --token 1 /no/such/folder/file"},
      {"69", "\"$0\" --store " + cache.url() + " run -n list -- true"},
      {"70", "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 4; \"$0\" hold job"},
      {"74", "\"$0\" ls --json >/dev/full"},
      {"74", "\"$0\" acquire full >/dev/full; s=$?; \"$0\" run -n full -- sh -c \"exit $s\""},
      {"75", "\"$0\" run -n busy -- true"},
      {"75", "\"$0\" throttle --limit 1 --per 1h b && \"$0\" throttle -n --limit 1 --per 1h b"},
      {"75", "\"$0\" mark --ttl 1h key && \"$0\" mark --if-clear --ttl 1h key"},
      {"75", "\"$0\" fence check --token 1 file -- \"$0\" fence check --token 1 -w 10ms file"},
      {"79", "\"$0\" run stolen -- \"$0\" steal --confirm stolen stolen"},
      {"79",
       "\"$0\" once --per 1h --retry 2s stolen -- "
       "sh -c '\"$0\" steal --confirm once/stolen once/stolen; sleep 600' \"$0\""},
      {"79", "\"$0\" renew job 00000000000000000000000000000001"},
      {"79", "\"$0\" release job 00000000000000000000000000000001"},
      {"79", "\"$0\" fence check --token 9 other && \"$0\" fence check --token 3 other"},
      {"128+n", interrupted("run -v busy -- true")},
      {"128+n", interrupted("elect -v busy -- true")},
      {"128+n", interrupted("wait -v busy")},
      {"128+n", interrupted("acquire -v busy")},
      {"128+n", interrupted("hold -v --for $$ busy")},
      {"128+n",
       "\"$0\" throttle --limit 1 --per 1h c; " + interrupted("throttle -v --limit 1 --per 1h c")}};
  for (const std::string run : {"run 126", "once --per 1h 126", "elect 126",
                                "throttle --limit 9 --per 1h 126", "fence check --token 1 126"}) {
    lines.emplace_back("126", "\"$0\" " + run + " -- /");
    lines.emplace_back("127", "\"$0\" " + run + " -- no-such-command");
  }
  for (const std::string run : {"run", "once --per 1h", "elect"}) {
    lines.emplace_back("128+n", "\"$0\" " + run + " ended -- sh -c 'kill -TERM $$'");
  }
  std::set<std::string> produced;
  for (const auto& [code, line] : lines) {
    produced.insert(code);
#if defined(__SANITIZE_ADDRESS__)
    if (code == "70") continue;  // AddressSanitizer ends a program that has no descriptors left
#endif
    EXPECT_EQ(status_of("cd && " + line), code == "128+n" ? 128 + SIGTERM : std::stoi(code))
        << line;
  }
  EXPECT_EQ(documented(), produced);
}

}  // namespace

}  // namespace holdfast::cli::testing
