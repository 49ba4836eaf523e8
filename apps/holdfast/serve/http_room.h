#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <holdfast/base/mutex.h>

#include "apps/holdfast/serve/http_server.h"

namespace holdfast::cli::serve {

// Everything that the connections of an HttpServer share. Used in the thread of `io` alone, but for
// the statistics.
struct HttpRoom {
  explicit HttpRoom(HttpOptions chosen) : options(std::move(chosen)) {}

  // Changes the statistics, which other threads read.
  template <class Change>
  void count(Change&& change) {
    const base::MutexLock lock(stats_mutex);
    std::forward<Change>(change)(stats);
  }

  const HttpOptions options;
  HttpServer::Handler handler;
  HttpServer::NewestEvent newest;

  // The connections that wait for a request, the one that has waited longest first.
  std::list<boost::beast::tcp_stream*> idle;
  struct Waiting {
    boost::asio::steady_timer timer;
    bool due = false;
  };
  // The streams, to be woken by an event.
  std::list<Waiting*> streams;
  std::size_t connections = 0;
  std::size_t work = 0;
  // Work that has not begun is answered without it.
  std::atomic<bool> stops = false;

  mutable base::Mutex stats_mutex;
  HttpStats stats HOLDFAST_GUARDED_BY(stats_mutex);

  boost::asio::thread_pool pool{2};
  // The last: the connections in it use all of the above when it ends them.
  boost::asio::io_context io{1};
};

// A place in a list for as long as it lives.
template <class T>
class Listed {
 public:
  Listed(std::list<T*>& list, T& item) : list_(list), place_(list.insert(list.end(), &item)) {}
  ~Listed() { list_.erase(place_); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  std::list<T*>& list_;
  const typename std::list<T*>::iterator place_;
};

// One more of something for as long as it lives.
class Counted {
 public:
  explicit Counted(std::size_t& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::size_t& count_;
};

}  // namespace holdfast::cli::serve
