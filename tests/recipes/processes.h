#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <tests/support/patience.h>
#include <tests/support/temporary_folder.h>

namespace holdfast::tests {

// One T in memory that this process and those that it forks share.
template <class T>
class Shared {
 public:
  Shared() {
    void* const memory =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(), "mmap");
    }
    value_ = new (memory) T();
  }
  ~Shared() { ::munmap(value_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  T* operator->() const noexcept { return value_; }
  T& operator*() const noexcept { return *value_; }

 private:
  T* value_ = nullptr;
};

// Runs `work(0)` to `work(count - 1)` in processes of their own; how many of them failed, by an
// exception or by not ending. To be called while there are no other threads.
inline int failures_among(int count, const std::function<void(int)>& work) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      int status = 0;
      try {
        work(i);
      } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        status = 1;
      }
      ::_exit(status);
    }
    children.push_back(child);
  }
  int failed = 0;
  for (const pid_t child : children) {
    int status = 0;
    const bool ended =
        child > 0 && eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; });
    if (!ended && child > 0) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
    }
    failed += ended && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
  }
  return failed;
}

// An SQLite store in a folder that is gone at the end.
class SqliteFile {
 public:
  [[nodiscard]] std::string url() const { return "sqlite:" + (folder_ / "locks.db").string(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace holdfast::tests
