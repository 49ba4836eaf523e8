#include <holdfast/async/blocking_pool.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/base/error.h>
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

  std::mutex mutex;
  std::condition_variable wake;
  // Protected by mutex.
  base::IntrusiveList<Task, &Task::queue> tasks;
  std::size_t queued = 0;
  std::size_t idle = 0;  // threads without a task, or about to start
  bool ending = false;
  std::vector<std::thread> threads;
};

BlockingPool::BlockingPool(std::size_t threads, std::size_t queue) : state_(State::make()) {
  if (threads == 0 || queue == 0) {
    base::throw_error({base::ErrorCode::invalid_argument,
                       "a pool has at least one thread and a queue of at least one"});
  }
  state_->most_threads = threads;
  state_->most_queued = queue;
  state_->threads.reserve(threads);
  const std::lock_guard guard(state_->mutex);
  if (!start_thread(state_)) {
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
    const std::lock_guard guard(state_->mutex);
    state_->ending = true;
    threads.swap(state_->threads);
  }
  state_->wake.notify_all();
  for (std::thread& thread : threads) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

bool BlockingPool::try_post(Task& task) {
  const std::lock_guard guard(state_->mutex);
  if (state_->queued >= state_->most_queued) {
    return false;
  }
  push(state_, task);
  return true;
}

void BlockingPool::post(Task& task) {
  const std::lock_guard guard(state_->mutex);
  push(state_, task);
}

void BlockingPool::push(const std::shared_ptr<State>& state, Task& task) {
  state->tasks.push_back(task);
  ++state->queued;
  const bool wants_another =
      state->queued > state->idle && !state->ending && state->threads.size() < state->most_threads;
  if (!wants_another || !start_thread(state)) {
    state->wake.notify_one();
  }
}

bool BlockingPool::start_thread(const std::shared_ptr<State>& state) {
  try {
    state->threads.emplace_back([state] { work(state); });
    ++state->idle;
    return true;
  } catch (const std::exception&) {
    return false;  // no thread, or no memory for one
  }
}

void BlockingPool::work(const std::shared_ptr<State>& state) {
  std::unique_lock guard(state->mutex);
  for (;;) {
    state->wake.wait(guard, [&] { return !state->tasks.empty() || state->ending; });
    --state->idle;
    if (state->tasks.empty()) {
      return;
    }
    Task& task = state->tasks.pop_front();
    --state->queued;
    guard.unlock();
    task.run_in_pool();
    guard.lock();
    ++state->idle;
  }
}

std::size_t BlockingPool::queued() const {
  const std::lock_guard guard(state_->mutex);
  return state_->queued;
}

std::size_t BlockingPool::threads() const {
  const std::lock_guard guard(state_->mutex);
  return state_->threads.size();
}

}  // namespace holdfast::async
