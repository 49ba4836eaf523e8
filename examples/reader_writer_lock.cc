// Many threads read a document and one writes it; after writing, the writer becomes a reader
// without unlocking in between.
#include <holdfast/recipes/reader_writer_lock.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

#include <holdfast/engines/open_store.h>

using namespace std::chrono_literals;
using holdfast::recipes::ReaderWriterLock;

int main() {
  holdfast::locks::LockProvider provider(
      holdfast::base::value_or_throw(holdfast::engines::open_store("memory:")));
  ReaderWriterLock lock(provider, "doc");
  int first = 0;
  int second = 0;  // a writer changes both: no reader sees them differ
  std::atomic<bool> torn = false;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 50; ++round) {
          const auto reading = lock.acquire_shared();
          torn = torn || first != second;
        }
      });
    }
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        auto writing = lock.acquire_exclusive();
        ++first;
        ++second;
        // From here on others may read, too; no other writer could get in between.
        if (!ReaderWriterLock::downgrade(writing) || first != round + 1) torn = true;
      }
    });
  }
  std::cout << "written " << first << " times, " << (torn ? "torn" : "never torn") << '\n';
  return !torn && first == 50 && second == 50 ? EXIT_SUCCESS : EXIT_FAILURE;
}
