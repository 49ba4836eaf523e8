#include <holdfast/locks/internal/runtime.h>

#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include <holdfast/base/mutex.h>
#include <holdfast/base/random.h>
#include <holdfast/locks/steps/run_blocking.h>

namespace holdfast::locks::internal {

namespace {

using steps::Step;

class BackgroundThread final : public Background {
 public:
  BackgroundThread(steps::Procedure& procedure, store::LeaseStore& store, const base::Clock& clock)
      : procedure_(procedure), store_(store), clock_(clock) {}
  ~BackgroundThread() override { join(); }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  bool start() override {
    const base::MutexLock lock(mutex_);
    if (thread_.joinable() || is_joined_) {
      return true;
    }
    try {
      thread_ = std::thread([this] { run(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  // Without the mutex while it waits: a caller may still start or wake it.
  void join() noexcept override {
    std::thread ending;
    {
      const base::MutexLock lock(mutex_);
      is_joined_ = true;
      ending.swap(thread_);
    }
    if (ending.joinable()) {
      ending.join();
    }
  }

  void wake() noexcept override { waker_.wake(); }

 private:
  // A procedure is never left half done: what it throws itself ends the program.
  void run() noexcept {
    for (Step step = procedure_.start(); step.kind != Step::Kind::done;) {
      step = step.kind == Step::Kind::wait
                 ? procedure_.on(steps::Woken{waker_.wait_until(clock_, step.until, step.slack)})
                 : ask(step);
    }
  }
  Step ask(const Step& step) {
    steps::Answer answer;
    try {
      answer = steps::ask(store_, step);
    } catch (const std::exception&) {
      return procedure_.on_exception();
    }
    return procedure_.on(std::move(answer));
  }

  steps::Procedure& procedure_;
  store::LeaseStore& store_;
  const base::Clock& clock_;
  steps::ThreadWaker waker_;
  base::Mutex mutex_;
  bool is_joined_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::thread thread_ HOLDFAST_GUARDED_BY(mutex_);
};

class ProcessRuntime final : public Runtime {
 public:
  const base::Clock& request_clock() const noexcept override { return base::steady_clock(); }
  base::LeaseId new_id() const override { return base::LeaseId::generate(); }
  double random_fraction() const override { return base::random_fraction(); }
  std::unique_ptr<Background> background(steps::Procedure& procedure, store::LeaseStore& store,
                                         const base::Clock& clock) const override {
    return std::make_unique<BackgroundThread>(procedure, store, clock);
  }
};

}  // namespace

const Runtime& process_runtime() noexcept {
  static const ProcessRuntime& runtime = *new ProcessRuntime;
  return runtime;
}

}  // namespace holdfast::locks::internal
