// A lock over a store: acquired, tried, waited for, cancelled, lost. The first argument is the
// store's URL, such as redis://localhost or sqlite:/tmp/locks.db; the default is memory:.
#include <holdfast/locks/lock_provider.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <holdfast/engines/open_store.h>

using holdfast::base::ErrorCode;
using holdfast::base::FencingToken;
using holdfast::locks::Lock;
using holdfast::locks::LockProvider;
using namespace std::chrono_literals;

// The protected resource: a printer that checks tokens.
class Printer {
 public:
  bool print(int page, FencingToken token) {
    if (token < newest_) {
      return false;  // a stale token: there is a newer holder
    }
    newest_ = token;
    std::cout << "page " << page << '\n';
    return true;
  }

 private:
  FencingToken newest_{0};
};

bool print_report(LockProvider& provider, Printer& printer) {
  const Lock lock = provider.acquire("report", {.wait = 5s, .reason = "monthly"});
  for (int page = 1; page <= 3; ++page) {
    if (lock.lost().stop_requested() || !printer.print(page, lock.token())) {
      return false;  // another holder may be printing by now
    }
  }
  return true;
}  // released here

std::string describe_attempt(LockProvider& provider) {
  auto attempt = provider.try_acquire("report");
  if (!attempt) {
    return "the store failed: " + attempt.error().message;
  }
  if (!*attempt) {
    return "another holder has it";
  }
  return "acquired, token " + to_string((*attempt)->token());
}

bool is_cancelled(LockProvider& provider) {
  std::stop_source ctrl_c;
  std::jthread user([&] { ctrl_c.request_stop(); });
  const auto attempt = provider.try_acquire("report", {.wait = 1h, .stop = ctrl_c.get_token()});
  return !attempt && attempt.error().code == ErrorCode::cancelled;
}

// Another thread steals the lock, as `holdfast steal` does.
bool hears_of_its_loss(LockProvider& provider) {
  const Lock lock = provider.acquire("report", {.ttl = 300ms});
  std::jthread thief([&] { static_cast<void>(provider.release("report", lock.id())); });
  while (!lock.lost().stop_requested()) {
    std::this_thread::sleep_for(10ms);  // the work
  }
  return lock.check().error().code == ErrorCode::lost;
}

int main(int argc, char** argv) {
  const std::string url = argc > 1 ? argv[1] : "memory:";
  auto store = holdfast::engines::open_store(url);
  if (!store) {
    std::cerr << store.error().message << '\n';
    return EXIT_FAILURE;
  }
  LockProvider provider(*std::move(store));
  Printer printer;
  const bool printed = print_report(provider, printer);
  std::cout << describe_attempt(provider) << '\n';

  Lock held = provider.acquire("report");
  const std::string attempt = describe_attempt(provider);
  std::cout << attempt << '\n';
  const bool cancelled = is_cancelled(provider);
  const bool is_released = held.release().has_value();

  const bool heard = hears_of_its_loss(provider);
  std::cout << "a holder whose lock was stolen was notified\n";
  return printed && attempt == "another holder has it" && cancelled && is_released && heard
             ? EXIT_SUCCESS
             : EXIT_FAILURE;
}
