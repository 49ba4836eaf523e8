#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "bench/redis/workloads.h"

namespace holdfast::bench_redis {

std::vector<std::string> role(const std::vector<std::string>& words) {
  std::vector<std::string> command = {std::filesystem::read_symlink("/proc/self/exe").string(),
                                      "--as"};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

int run_as(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "waiter") {
    return wait_for_orders(words[1]);
  }
  if (words.size() == 2 && words[0] == "taker") {
    return take_on_orders(words[1]);
  }
  if (words.size() == 2 && words[0] == "listener") {
    return listen_for_orders(words[1]);
  }
  if (words.size() == 4 && words[0] == "crowd") {
    return join_crowd(words[1], words[2], words[3]);
  }
  throw std::invalid_argument("there is no such role");
}

long long now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace holdfast::bench_redis
