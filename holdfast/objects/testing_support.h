#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tests/support/patience.h>

#include <holdfast/base/error.h>
#include <holdfast/base/mutex.h>
#include <holdfast/engines/memory/memory_repository.h>
#include <holdfast/objects/internal/lock_order.h>
#include <holdfast/objects/object_host.h>

// Support for the tests of this folder.
namespace holdfast::objects::testing {

using tests::eventually;
using tests::kPatience;

// Every test program of objects checks the lock order, in release builds, too.
inline const bool kChecksLockOrder = internal::LockOrder::check();

// Gives other threads time to do what they must not do. A test that passes does not depend on it.
inline void let_others_err() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

// A door that opens once.
class Door {
 public:
  void open() { open_ = true; }
  [[nodiscard]] bool is_open() const { return open_; }
  void pass() const {
    if (!eventually([this] { return open_.load(); })) {
      throw std::runtime_error("the door never opened");
    }
  }

 private:
  std::atomic<bool> open_ = false;
};

// Returns the error's code as text, or "done".
template <class T>
std::string answer(const base::Result<T>& result) {
  return result ? "done" : std::string(base::to_string(result.error().code));
}

template <class T>
std::string message(const base::Result<T>& result) {
  return result ? "" : result.error().message;
}

// A repository in memory whose operations can be observed, delayed and made to fail.
class WatchedRepository final : public store::ObjectRepository {
 public:
  using Hook = std::function<base::Result<void>()>;

  // Called before the operation; an error becomes the operation's result.
  Hook on_load;
  Hook on_save;
  Hook on_erase;
  // A request with this id among its saves fails.
  std::string poisoned;
  bool atomic_batch = true;

  [[nodiscard]] store::RepositoryCapabilities capabilities() const override {
    auto capabilities = memory_.capabilities();
    capabilities.atomic_batch = atomic_batch;
    return capabilities;
  }
  [[nodiscard]] std::size_t size() const { return memory_.size(); }
  // Returns the sizes of the save requests so far.
  [[nodiscard]] std::vector<std::size_t> batches() const {
    const base::MutexLock lock(mutex_);
    return batches_;
  }
  [[nodiscard]] std::string stored(const std::string& type, const std::string& id) {
    const auto loaded = base::value_or_throw(memory_.load({type, id}, base::FencingToken(0)));
    const auto* const found = std::get_if<store::Loaded>(&loaded);
    return found != nullptr ? found->data : "nothing";
  }

 private:
  base::Result<store::LoadOutcome> do_load(const store::ObjectKey& key, base::FencingToken token,
                                           base::Deadline deadline) override {
    if (auto told = tell(on_load); !told) return std::unexpected(told.error());
    return memory_.load(key, token, deadline);
  }
  base::Result<std::vector<store::SaveOutcome>> do_save(std::span<const store::ObjectSave> saves,
                                                        store::Batch batch,
                                                        base::Deadline deadline) override {
    {
      const base::MutexLock lock(mutex_);
      batches_.push_back(saves.size());
    }
    if (auto told = tell(on_save); !told) return std::unexpected(told.error());
    for (const store::ObjectSave& save : saves) {
      if (save.key.id == poisoned) return base::fail(base::ErrorCode::corrupt, "not an object");
    }
    return memory_.save(saves, batch, deadline);
  }
  base::Result<store::EraseOutcome> do_erase(const store::ObjectKey& key, base::FencingToken token,
                                             base::Deadline deadline) override {
    if (auto told = tell(on_erase); !told) return std::unexpected(told.error());
    return memory_.erase(key, token, deadline);
  }
  base::Result<store::IdPage> do_list(std::string_view type, std::string_view prefix,
                                      std::size_t limit, std::string_view after,
                                      base::Deadline deadline) override {
    return memory_.list(type, prefix, limit, after, deadline);
  }
  static base::Result<void> tell(const Hook& hook) { return hook ? hook() : base::Result<void>(); }

  engines::memory::MemoryRepository memory_;
  mutable base::Mutex mutex_;
  std::vector<std::size_t> batches_ HOLDFAST_GUARDED_BY(mutex_);
};

// An object whose methods and hooks a test can replace. All objects of a test share the script,
// which is set before they are used.
struct Script {
  std::function<void()> on_make;
  std::function<void()> on_created;
  std::function<void()> on_loaded;
  std::function<void()> on_deleting;
  std::function<void()> on_to_data;
  std::function<void()> on_from_data;
  std::function<void()> on_work;
  std::atomic<int> made = 0;
  std::atomic<int> alive = 0;
};

class Scripted : public Object {
 public:
  explicit Scripted(std::shared_ptr<Script> script) : script_(std::move(script)) {
    ++script_->made;
    ++script_->alive;
    run(script_->on_make, [this] { --script_->alive; });
  }
  ~Scripted() override { --script_->alive; }

  [[nodiscard]] nlohmann::json to_data() const override {
    run(script_->on_to_data);
    return {{"value", value_.load()}};
  }
  void from_data(const nlohmann::json& data) override {
    run(script_->on_from_data);
    value_ = data.at("value").get<long>();
  }
  void on_created() override { run(script_->on_created); }
  void on_loaded() override { run(script_->on_loaded); }
  void on_deleting() override { run(script_->on_deleting); }

  long add(long amount) { return value_ += amount; }
  [[nodiscard]] long value() const { return value_; }
  // Runs the test's function, then adds one.
  long work() {
    run(script_->on_work);
    return ++value_;
  }
  void work_without_change() const { run(script_->on_work); }
  void touch() const { const_cast<Scripted*>(this)->mark_changed(); }
  [[nodiscard]] std::string name() const { return std::string(id()); }
  ObjectHost& its_host() { return host(); }

 private:
  static void run(const std::function<void()>& what, const std::function<void()>& undo = {}) {
    if (!what) return;
    try {
      what();
    } catch (...) {
      if (undo) undo();
      throw;
    }
  }

  const std::shared_ptr<Script> script_;
  std::atomic<long> value_ = 0;
};

// A host with one type, "scripted", over a WatchedRepository.
struct HostTest {
  explicit HostTest(HostOptions options = quiet(), TypeOptions type = {})
      : host(repository, std::move(options)) {
    host.register_type<Scripted>("scripted", type,
                                 [script = script] { return std::make_unique<Scripted>(script); })
        .template method<&Scripted::add>("add")
        .template method<&Scripted::value>("value")
        .template method<&Scripted::work>("work");
  }
  // Returns options with which nothing happens in the background.
  static HostOptions quiet() {
    HostOptions options;
    options.save_every.reset();
    return options;
  }

  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::shared_ptr<WatchedRepository> repository = std::make_shared<WatchedRepository>();
  ObjectHost host;
};

}  // namespace holdfast::objects::testing
