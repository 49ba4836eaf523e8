#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/locks/lock_provider.h>

int main() {
  const auto file = std::filesystem::temp_directory_path() / ("lean." + std::to_string(getpid()));
  int status = EXIT_FAILURE;
  if (auto store = holdfast::engines::sqlite::open_store({.file = file})) {
    holdfast::locks::LockProvider locks(*std::move(store));
    const auto lock = locks.acquire("report");
    const auto second = locks.try_acquire("report");
    status = second && !*second ? EXIT_SUCCESS : EXIT_FAILURE;
  } else {
    std::cerr << store.error().message << '\n';
  }
  for (const char* const ending : {"", "-wal", "-shm", "-wake"}) {
    std::filesystem::remove(file.string() + ending);
  }
  return status;
}
