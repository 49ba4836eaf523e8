#pragma once

#include <list>
#include <memory>
#include <stop_token>
#include <utility>

#include <holdfast/base/process_mark.h>

namespace holdfast::recipes {

// A stop token that fires with the first of several others. Thread-safe except `add`; the tokens
// may outlive it. In a forked child its destructor does nothing: the tokens' state may be locked
// there for ever.
//
//   AnyStop over;
//   over.add(lock.lost());  over.add(stop);
//   work(over.token());
class AnyStop {
 public:
  AnyStop() = default;
  AnyStop(const AnyStop&) = delete;
  AnyStop& operator=(const AnyStop&) = delete;
  ~AnyStop() {
    if (process_.is_inherited()) {
      static_cast<void>(callbacks_.release());
    }
  }

  void add(std::stop_token token) { callbacks_->emplace_back(std::move(token), Request{source_}); }

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  struct Request {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };

  using Callbacks = std::list<std::stop_callback<Request>>;  // they do not move

  const base::ProcessMark process_;
  std::stop_source source_;
  std::unique_ptr<Callbacks> callbacks_ = std::make_unique<Callbacks>();
};

}  // namespace holdfast::recipes
