#include <holdfast/async/blocking_pool.h>

#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/base/error.h>
#include <holdfast/base/mutex.h>
#include <holdfast/base/process_mark.h>

namespace holdfast::async {

struct BlockingPool::State {
  // Never destroyed in a forked child: its threads do not exist there.
  [[nodiscard]] static std::shared_ptr<State> make() {
    return {new State, [](const State* state) {
              if (!state->process.is_inherited()) {
                delete state;
              }
            }};
  }

  const base::ProcessMark process;
  std::size_t most_threads = 0;
  std::size_t most_queued = 0;

  // Posts a task, and starts a thread for it if there is none without a task.
  static void push(const std::shared_ptr<State>& state, Task& task) HOLDFAST_REQUIRES(state->mutex);
  // Returns whether one more thread was started.
  [[nodiscard]] static bool start_thread(const std::shared_ptr<State>& state)
      HOLDFAST_REQUIRES(state->mutex);
  void work();

  base::Mutex mutex;
  base::ConditionVariable changed;
  base::IntrusiveList<Task, &Task::queue> tasks HOLDFAST_GUARDED_BY(mutex);
  std::size_t queued HOLDFAST_GUARDED_BY(mutex) = 0;
  // Threads without a task, or about to start.
  std::size_t idle HOLDFAST_GUARDED_BY(mutex) = 0;
  bool ending HOLDFAST_GUARDED_BY(mutex) = false;
  std::vector<std::thread> threads HOLDFAST_GUARDED_BY(mutex);
};

BlockingPool::BlockingPool(std::size_t threads, std::size_t queue) : state_(State::make()) {
  if (threads == 0 || queue == 0) {
    base::throw_error({base::ErrorCode::invalid_argument,
                       "a pool has at least one thread and a queue of at least one"});
  }
  state_->most_threads = threads;
  state_->most_queued = queue;
  const base::MutexLock lock(state_->mutex);
  state_->threads.reserve(threads);
  if (!State::start_thread(state_)) {
    base::throw_error(
        {base::ErrorCode::limit_exceeded, "there is no thread to ask the store with"});
  }
}

BlockingPool::~BlockingPool() {
  if (state_->process.is_inherited()) {
    return;
  }
  std::vector<std::thread> threads;
  {
    const base::MutexLock lock(state_->mutex);
    state_->ending = true;
    threads.swap(state_->threads);
  }
  state_->changed.notify_all();
  for (std::thread& thread : threads) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

bool BlockingPool::try_post(Task& task) {
  const base::MutexLock lock(state_->mutex);
  if (state_->queued >= state_->most_queued) {
    return false;
  }
  State::push(state_, task);
  return true;
}

void BlockingPool::post(Task& task) {
  const base::MutexLock lock(state_->mutex);
  State::push(state_, task);
}

void BlockingPool::State::push(const std::shared_ptr<State>& state, Task& task) {
  state->tasks.push_back(task);
  ++state->queued;
  const bool wants_another =
      state->queued > state->idle && !state->ending && state->threads.size() < state->most_threads;
  if (!wants_another || !start_thread(state)) {
    state->changed.notify_one();
  }
}

bool BlockingPool::State::start_thread(const std::shared_ptr<State>& state) {
  try {
    state->threads.emplace_back([state] { state->work(); });
    ++state->idle;
    return true;
  } catch (const std::exception&) {
    return false;  // no thread, or no memory for one
  }
}

void BlockingPool::State::work() {
  base::MutexLock lock(mutex);
  for (;;) {
    while (tasks.empty() && !ending) {
      changed.wait(mutex);
    }
    --idle;
    if (tasks.empty()) {
      return;
    }
    Task& task = tasks.pop_front();
    --queued;
    lock.unlock();
    task.run_in_pool();
    lock.lock();
    ++idle;
  }
}

std::size_t BlockingPool::queued() const {
  const base::MutexLock lock(state_->mutex);
  return state_->queued;
}

std::size_t BlockingPool::threads() const {
  const base::MutexLock lock(state_->mutex);
  return state_->threads.size();
}

}  // namespace holdfast::async
