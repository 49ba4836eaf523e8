// A service of coroutines on one thread: a hundred requests for three documents. One request at a
// time writes a document, at most four requests run at the same time, and no request waits longer
// than its limit.
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <holdfast/async/async_lock_provider.h>
#include <holdfast/async/semaphore.h>
#include <holdfast/engines/open_store.h>

namespace asio = boost::asio;
using holdfast::async::AsyncLock;
using holdfast::async::AsyncLockProvider;
using holdfast::async::AsyncSemaphore;
using namespace std::chrono_literals;

struct Document {
  int writers = 0;
  int version = 0;
};

struct Service {
  AsyncLockProvider provider{
      holdfast::base::value_or_throw(holdfast::engines::open_store("memory:"))};
  AsyncSemaphore at_work{provider, "at work", 4};
  std::array<Document, 3> documents{};
  int collisions = 0;
  int refused = 0;

  asio::awaitable<void> serve(int request) {
    const std::size_t number = static_cast<std::size_t>(request) % documents.size();
    const holdfast::locks::AcquireOptions patient{.wait = 1min};
    const AsyncLock worker = co_await at_work.acquire(1, patient);
    AsyncLock lock = co_await provider.acquire("document/" + std::to_string(number), patient);
    co_await write(documents.at(number));
    // Returns whether the lock was held to the end; the end of the scope would release it, too.
    const auto released = co_await lock.release();
    collisions += released == holdfast::store::ReleaseOutcome::released ? 0 : 1;
  }

  // Reading and writing are two steps, with a pause in between.
  asio::awaitable<void> write(Document& document) {
    collisions += document.writers++ == 0 ? 0 : 1;
    const int version = document.version;
    asio::steady_timer pause(co_await asio::this_coro::executor, 100us);
    co_await pause.async_wait(asio::use_awaitable);
    document.version = version + 1;
    --document.writers;
  }

  asio::awaitable<void> serve_in_a_hurry() {
    // Contention is a value: nullopt if the lock was not acquired in time.
    const holdfast::locks::AcquireOptions brief{.wait = 1ms};
    const auto lock = co_await provider.try_acquire("document/0", brief);
    refused += lock && !*lock ? 1 : 0;
  }
};

int main() {
  asio::io_context context(1);
  Service service;
  // Another part of the program uses threads: the same queue, the same locks.
  auto held = service.provider.blocking().acquire("document/0");
  asio::co_spawn(context, service.serve_in_a_hurry(), asio::detached);
  context.run();
  static_cast<void>(held.release());

  for (int request = 0; request < 100; ++request) {
    asio::co_spawn(context, service.serve(request), asio::detached);
  }
  context.restart();
  context.run();

  int written = 0;
  for (const Document& document : service.documents) written += document.version;
  std::cout << written << " requests written, " << service.collisions << " collisions, "
            << service.refused << " refused\n";
  const bool right = written == 100 && service.collisions == 0 && service.refused == 1;
  return right && service.provider.held() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
