#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench_locks {

// A child process that is controlled line by line. Ends with its input.
class Child {
 public:
  explicit Child(const std::vector<std::string>& command);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void say(std::string_view line);
  [[nodiscard]] std::string hear();

 private:
  pid_t pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

// Runs a program to its end; throws unless it exits with 0.
void run_command(const std::vector<std::string>& command);

}  // namespace holdfast::bench_locks
