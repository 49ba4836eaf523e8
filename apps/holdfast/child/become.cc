#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "apps/holdfast/child/become.h"
#include "apps/holdfast/child/not_executed.h"

namespace holdfast::cli {

int become(Session& session, Arguments command) {
  std::vector<char*> words;
  for (std::string& word : command) {
    words.push_back(word.data());
  }
  words.push_back(nullptr);
  ::execvp(words.front(), words.data());
  return report_not_executed(session, command.front(), errno);
}

}  // namespace holdfast::cli
