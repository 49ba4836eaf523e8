// A service of which several copies run, and one at a time writes the report. `reporter` writes one
// report; `reporter URL` is the service, which ends after SIGTERM. docs/getting-started.md builds
// it.
#include <chrono>
#include <csignal>
#include <iostream>
#include <string>
#include <thread>

#include <holdfast/holdfast.h>

using namespace std::chrono_literals;

volatile std::sig_atomic_t stopping = 0;

// One step of the work. Send the token to wherever the page is stored.
void write_page(int page, holdfast::FencingToken token) {
  std::cout << "page " << page << ", token " << to_string(token) << std::endl;
  std::this_thread::sleep_for(200ms);
}

void write_report(const holdfast::Lock& lock) {
  for (int page = 1; page <= 3; ++page) {
    if (!lock.check()) {  // right even after the process was stopped for a while
      std::cout << "lost the lock: another process may be writing" << std::endl;
      return;
    }
    write_page(page, lock.token());
  }
}

int main(int argc, char** argv) {
  const bool is_service = argc > 1;
  std::signal(SIGTERM, [](int) { stopping = 1; });
  try {
    auto locks = holdfast::open(is_service ? argv[1] : "sqlite:locks.db");
    do {
      auto attempt = locks.try_acquire("report", {.ttl = 10s, .wait = 1s, .reason = "daily"});
      if (!attempt) {  // the store failed
        std::cerr << attempt.error().message << std::endl;
        std::this_thread::sleep_for(1s);
      } else if (!*attempt) {  // busy
        std::cout << "another process is at work" << std::endl;
      } else {
        write_report(**attempt);
      }
    } while (is_service && stopping == 0);
  } catch (const holdfast::Exception& error) {  // a wrong URL, for example
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
