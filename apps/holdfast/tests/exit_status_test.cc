#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

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
};

TEST_F(ExitStatusTest, EveryCodeOfTheManualIsProduced) {
  const std::map<std::string, std::string> lines = {
      {"0", "\"$0\" run job -- true"},
      {"1", "\"$0\" marked key"},
      {"64", "\"$0\" run job"},
      {"69", "\"$0\" --store sqlite:/no/such/folder/locks.db ls"},
      {"70", "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 4; \"$0\" hold job"},
      {"74", "\"$0\" ls --json >/dev/full"},
      {"75", "\"$0\" acquire --ttl 1h busy && \"$0\" run -n busy -- true"},
      {"79", "\"$0\" release job 00000000000000000000000000000001"},
      {"126", "\"$0\" run job -- /"},
      {"127", "\"$0\" run job -- no-such-command"},
      {"128+n", "\"$0\" run job -- sh -c 'kill -KILL $$'"}};
  std::set<std::string> produced;
  for (const auto& [code, line] : lines) {
    produced.insert(code);
#if defined(__SANITIZE_ADDRESS__)
    if (code == "70") continue;  // AddressSanitizer ends a program that has no descriptors left
#endif
    EXPECT_EQ(status_of(line), code == "128+n" ? 128 + 9 : std::stoi(code)) << line;
  }
  EXPECT_EQ(documented(), produced);
}

}  // namespace

}  // namespace holdfast::cli::testing
