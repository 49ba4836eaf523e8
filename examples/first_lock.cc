// The smallest program with a lock: one process at a time prints the report. The README opens with
// it.
#include <iostream>
#include <stop_token>

#include <holdfast/holdfast.h>

void print_report(holdfast::FencingToken token, const std::stop_token& lost);

int main() {
  auto locks = holdfast::open("sqlite:locks.db");  // or redis://…, postgresql://…, mongodb://…
  auto lock = locks.acquire("report");             // waits; renewed in the background
  print_report(lock.token(), lock.lost());         // the work stops when the lock is lost
}  // released here

void print_report(holdfast::FencingToken token, const std::stop_token& lost) {
  for (int page = 1; page <= 3 && !lost.stop_requested(); ++page) {
    std::cout << "page " << page << ", token " << token << '\n';
  }
}
