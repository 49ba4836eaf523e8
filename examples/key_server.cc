// A TCP server that serialises work per key and works on different keys at the same time. Its
// clients check both.
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include <holdfast/async/async_key_lock.h>

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

// Accounts in slow storage. Although one thread runs everything, an unprotected update would be
// lost: while one coroutine waits for the storage, others run.
class Accounts {
 public:
  awaitable<long> deposit(const std::string& id, long amount) {
    auto guard = co_await keys_.lock(id);  // waits only for work on the same account
    const long balance = balances_.at(id);
    co_await slow_storage();
    co_return balances_.at(id) = balance + amount;
  }

  awaitable<long> balance(const std::string& id) {
    auto guard = co_await keys_.lock_shared(id);  // readers share the key
    co_return balances_.at(id);
  }

  awaitable<long> transfer(const std::string& from, const std::string& to, long amount) {
    auto guards = co_await keys_.lock_all({from, to});  // no deadlock, whatever others do
    const long source = balances_.at(from);
    const long target = balances_.at(to);
    co_await slow_storage();
    balances_.at(from) = source - amount;
    co_return balances_.at(to) = target + amount;
  }

  // Returns when a second caller is here with another account, while each holds its own key.
  awaitable<long> meet(const std::string& id) {
    auto guard = co_await keys_.lock_for(id, 10s);
    asio::steady_timer partner(co_await asio::this_coro::executor, 10s);
    if (waiting_ != nullptr) {
      std::exchange(waiting_, nullptr)->cancel();
      co_return 1;
    }
    waiting_ = &partner;
    boost::system::error_code error;
    co_await partner.async_wait(asio::redirect_error(use_awaitable, error));
    if (error != asio::error::operation_aborted) throw std::runtime_error("no second caller came");
    co_return 1;
  }

  [[nodiscard]] std::size_t locked() const { return keys_.size(); }

 private:
  static awaitable<void> slow_storage() {
    asio::steady_timer timer(co_await asio::this_coro::executor, 100us);
    co_await timer.async_wait(use_awaitable);
  }

  holdfast::async::AsyncKeyLock keys_;
  std::map<std::string, long> balances_{{"anna", 0}, {"bert", 0}};
  asio::steady_timer* waiting_ = nullptr;
};

awaitable<long> execute(Accounts& accounts, const std::string& request) {
  std::istringstream words(request);
  std::string command;
  std::string id;
  std::string other;
  long amount = 0;
  words >> command >> id;
  if (command == "deposit" && words >> amount) co_return co_await accounts.deposit(id, amount);
  if (command == "transfer" && words >> other >> amount) {
    co_return co_await accounts.transfer(id, other, amount);
  }
  if (command == "balance") co_return co_await accounts.balance(id);
  if (command == "meet") co_return co_await accounts.meet(id);
  throw std::runtime_error("unknown request: " + request);
}

awaitable<std::string> read_line(tcp::socket& socket, std::string& buffer) {
  constexpr std::size_t kLongest = 1'000;
  const std::size_t size = co_await asio::async_read_until(
      socket, asio::dynamic_buffer(buffer, kLongest), '\n', use_awaitable);
  std::string line = buffer.substr(0, size - 1);
  buffer.erase(0, size);
  co_return line;
}

awaitable<void> serve_client(tcp::socket socket, Accounts& accounts) {
  try {
    for (std::string buffer;;) {
      const std::string request = co_await read_line(socket, buffer);
      const std::string reply = std::to_string(co_await execute(accounts, request)) + "\n";
      co_await asio::async_write(socket, asio::buffer(reply), use_awaitable);
    }
  } catch (const boost::system::system_error& error) {
    if (error.code() != asio::error::eof) std::cerr << "server: " << error.what() << '\n';
  }
}

awaitable<void> serve(tcp::acceptor& acceptor, Accounts& accounts) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(use_awaitable);
    asio::co_spawn(acceptor.get_executor(), serve_client(std::move(socket), accounts),
                   asio::detached);
  }
}

class Client {
 public:
  explicit Client(const asio::any_io_executor& executor) : socket_(executor) {}

  awaitable<void> connect(const tcp::endpoint& server) {
    co_await socket_.async_connect(server, use_awaitable);
  }
  awaitable<long> ask(std::string request) {
    request += '\n';
    co_await asio::async_write(socket_, asio::buffer(request), use_awaitable);
    const std::string reply = co_await read_line(socket_, buffer_);
    co_return std::stol(reply);
  }

 private:
  tcp::socket socket_;
  std::string buffer_;
};

constexpr long kRounds = 50;

// One of several clients that do this at the same time.
awaitable<void> work(tcp::endpoint server, std::string id, std::string other) {
  Client client(co_await asio::this_coro::executor);
  co_await client.connect(server);
  const std::string deposit = "deposit " + id + " 2";
  const std::string transfer = "transfer " + id + " " + other + " 1";
  for (long i = 0; i < kRounds; ++i) {
    co_await client.ask(deposit);
    co_await client.ask(transfer);
  }
}

awaitable<void> meet(tcp::endpoint server, std::string id) {
  Client client(co_await asio::this_coro::executor);
  co_await client.connect(server);
  co_await client.ask("meet " + id);
}

awaitable<void> use_server(tcp::endpoint server) {
  using namespace asio::experimental::awaitable_operators;
  // Each client holds one key, and each waits for the other: this ends only if the server works on
  // both keys at the same time.
  co_await (meet(server, "anna") && meet(server, "bert"));
  std::cout << "two keys were worked on at the same time\n";

  // Four clients at the same time: without the locks, money would be lost.
  co_await (work(server, "anna", "bert") && work(server, "anna", "bert") &&
            work(server, "bert", "anna") && work(server, "bert", "anna"));
  Client client(co_await asio::this_coro::executor);
  co_await client.connect(server);
  const long anna = co_await client.ask("balance anna");
  const long bert = co_await client.ask("balance bert");
  std::cout << "anna has " << anna << ", bert has " << bert << '\n';
  if (anna != 4 * kRounds || bert != 4 * kRounds) throw std::runtime_error("money was lost");
}

}  // namespace

int main() {
  try {
    asio::io_context context;
    Accounts accounts;
    tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
    asio::co_spawn(context, serve(acceptor, accounts), asio::detached);
    std::exception_ptr failure;
    asio::co_spawn(context, use_server(acceptor.local_endpoint()),
                   [&](const std::exception_ptr& error) {
                     failure = error;
                     context.stop();
                   });
    context.run();
    if (failure) std::rethrow_exception(failure);
    return accounts.locked() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::cerr << "key_server: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
