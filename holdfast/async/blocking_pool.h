#pragma once

#include <cstddef>
#include <memory>

namespace holdfast::async {

// The threads on which blocking engines are asked, so that no executor's thread has to wait: a
// bounded number, of which the first is there from the beginning, and each other is started when it
// is first needed. Where it cannot be, those that are there do the work.
//
// Thread-safe. What is in line is done before it ends. May be destroyed by one of its own threads.
class BlockingPool {
 public:
  // Something to do. Belongs to whoever made it, and stays until it has begun to run.
  class Task {
   public:
    Task() = default;
    virtual ~Task() = default;
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

    virtual void run_in_pool() noexcept = 0;

   private:
    friend class BlockingPool;
    Task* next_ = nullptr;
  };

  // Both at least 1, or base::Exception: invalid_argument; limit_exceeded if there is no thread to
  // be had.
  BlockingPool(std::size_t threads, std::size_t queue);
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  // False if as many as `queue` wait for a thread.
  [[nodiscard]] bool try_post(Task& task);
  // However many wait: for what gives back, of which each lock has one at the most.
  void post(Task& task);

  [[nodiscard]] std::size_t queued() const;
  [[nodiscard]] std::size_t threads() const;

 private:
  struct State;  // shared with the threads, one of which may outlive the pool by a moment

  static void push(const std::shared_ptr<State>& state, Task& task);
  // Whether there is one more.
  [[nodiscard]] static bool start_thread(const std::shared_ptr<State>& state);
  static void work(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace holdfast::async
