#pragma once

#include <list>
#include <stop_token>
#include <utility>

namespace holdfast::recipes {

// A stop token that fires with the first of several others. Thread-safe except `add`; the tokens
// may outlive it.
//
//   AnyStop over;
//   over.add(lock.lost());  over.add(stop);
//   work(over.token());
class AnyStop {
 public:
  void add(std::stop_token token) { callbacks_.emplace_back(std::move(token), Request{source_}); }

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  struct Request {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };

  std::stop_source source_;
  std::list<std::stop_callback<Request>> callbacks_;  // they do not move
};

}  // namespace holdfast::recipes
