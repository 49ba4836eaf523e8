#pragma once

#include <cstddef>
#include <memory>

#include <holdfast/base/intrusive_list.h>

namespace holdfast::async {

// A bounded pool of threads for requests to blocking engines, so that no executor's thread has to
// wait. The first thread is started at once, each other one when it is first needed. If one cannot
// be started, the present ones do the work.
//
// Thread-safe. Completes all queued tasks before it ends. May be destroyed by one of its own
// threads. In a forked child its destructor does nothing.
class BlockingPool {
 public:
  // A task. Belongs to its maker, and must live until it has begun to run.
  class Task {
   public:
    Task() = default;
    virtual ~Task() = default;
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

    virtual void run_in_pool() noexcept = 0;

    base::ListHook<Task> queue;  // used by the pool
  };

  // Both must be at least 1. Throws base::Exception: invalid_argument, or limit_exceeded if no
  // thread can be started.
  BlockingPool(std::size_t threads, std::size_t queue);
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  // Returns false if `queue` tasks are already waiting for a thread.
  [[nodiscard]] bool try_post(Task& task);
  // Posts however many wait: for releases, of which each lock has at most one.
  void post(Task& task);

  [[nodiscard]] std::size_t queued() const;
  [[nodiscard]] std::size_t threads() const;

 private:
  struct State;  // shared with the threads, one of which may outlive the pool briefly

  const std::shared_ptr<State> state_;
};

}  // namespace holdfast::async
