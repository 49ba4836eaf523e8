#include <holdfast/testing/faulty_store.h>

#include <atomic>
#include <chrono>
#include <utility>

#include <holdfast/base/clock.h>

namespace holdfast::testing {

namespace {

using base::Deadline;
using base::ErrorCode;
using base::fail;
using base::LeaseId;
using base::Name;
using base::Result;

std::size_t index(Operation operation) { return static_cast<std::size_t>(operation); }

std::unexpected<base::Error> away() {
  return fail(ErrorCode::unavailable, "the store is unavailable, as the test wanted");
}

std::unexpected<base::Error> unknown() {
  return fail(ErrorCode::unknown_outcome, "the reply was lost, as the test wanted");
}

}  // namespace

struct FaultyStore::Hints {
  std::atomic<bool> away = false;
  std::atomic<bool> lost = false;
};

void Gate::wait_until_reached() {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [&] { return reached_; });
}

bool Gate::reached() const {
  const std::lock_guard guard(mutex_);
  return reached_;
}

void Gate::open() {
  const std::lock_guard guard(mutex_);
  open_ = true;
  changed_.notify_all();
}

void Gate::lose() {
  const std::lock_guard guard(mutex_);
  lost_ = true;
  changed_.notify_all();
}

bool Gate::pass(Deadline deadline) {
  std::unique_lock guard(mutex_);
  reached_ = true;
  changed_.notify_all();
  const auto may_go = [&] { return open_ || lost_; };
  if (deadline.is_never()) {
    changed_.wait(guard, may_go);
  } else {
    // A deadline belongs to base::steady_clock(), which has the same epoch as the standard's.
    const std::chrono::steady_clock::time_point when(deadline.when().time_since_epoch());
    changed_.wait_until(guard, when, may_go);
  }
  return open_ && !lost_;
}

// The operations that do not block, with the same faults.
class FaultyStore::Async final : public store::AsyncLeaseStore {
 public:
  Async(FaultyStore& store, store::AsyncLeaseStore& real) : store_(store), real_(real) {}

 private:
  template <class T>
  using Start = std::function<void(Callback<T> callback)>;

  template <class T>
  void meet_fault(Operation operation, Deadline deadline, const Start<T>& start,
                  const Callback<T>& callback) {
    const Fault fault = store_.next(operation);
    switch (fault.kind) {
      case Kind::none: start(callback); break;
      case Kind::refuse: callback(away()); break;
      case Kind::lose_request: callback(unknown()); break;
      case Kind::lose_reply: start([callback](const Result<T>&) { callback(unknown()); }); break;
      case Kind::duplicate: start([start, callback](const Result<T>&) { start(callback); }); break;
      case Kind::hold_request:
        store_.stand_at_gate([gate = fault.gate, deadline, start, callback] {
          gate->pass(deadline) ? start(callback) : callback(unknown());
        });
        break;
      case Kind::hold_reply:
        start([this, gate = fault.gate, deadline, callback](const Result<T>& outcome) {
          store_.stand_at_gate([gate, deadline, callback, outcome] {
            callback(gate->pass(deadline) ? outcome : Result<T>(unknown()));
          });
        });
        break;
    }
  }

  void start_claim(const Name& name, const store::Claim& claim, Deadline deadline,
                   Callback<store::ClaimOutcome> callback) override {
    meet_fault<store::ClaimOutcome>(
        Operation::claim, deadline,
        [this, name, &claim, deadline](auto back) {
          real_.claim(name.view(), claim, deadline, std::move(back));
        },
        callback);
  }
  void start_transfer(const Name& name, const LeaseId& from, const store::Claim& to,
                      Deadline deadline, Callback<store::TransferOutcome> callback) override {
    meet_fault<store::TransferOutcome>(
        Operation::transfer, deadline,
        [this, name, from, &to, deadline](auto back) {
          real_.transfer(name.view(), from, to, deadline, std::move(back));
        },
        callback);
  }
  void start_release(const Name& name, const LeaseId& id, Deadline deadline,
                     Callback<store::ReleaseOutcome> callback) override {
    meet_fault<store::ReleaseOutcome>(
        Operation::release, deadline,
        [this, name, id, deadline](auto back) {
          real_.release(name.view(), id, deadline, std::move(back));
        },
        callback);
  }
  void start_look(const Name& name, Deadline deadline,
                  Callback<std::optional<store::NameState>> callback) override {
    meet_fault<std::optional<store::NameState>>(
        Operation::look, deadline,
        [this, name, deadline](auto back) { real_.look(name.view(), deadline, std::move(back)); },
        callback);
  }
  void start_hit(const Name& name, const store::Hit& hit, Deadline deadline,
                 Callback<store::HitOutcome> callback) override {
    meet_fault<store::HitOutcome>(
        Operation::hit, deadline,
        [this, name, &hit, deadline](auto back) {
          real_.hit(name.view(), hit, deadline, std::move(back));
        },
        callback);
  }

  FaultyStore& store_;
  store::AsyncLeaseStore& real_;
};

FaultyStore::FaultyStore(std::shared_ptr<store::LeaseStore> real)
    : ForwardingStore(std::move(real)), hints_(std::make_shared<Hints>()) {
  if (store::AsyncLeaseStore* const async = forwarded_to().async()) {
    async_ = std::make_unique<Async>(*this, *async);
  }
}

FaultyStore::~FaultyStore() {
  for (std::thread& thread : at_gates_) {
    thread.join();
  }
}

store::AsyncLeaseStore* FaultyStore::async() noexcept { return async_.get(); }

void FaultyStore::stand_at_gate(std::function<void()> work) {
  const std::lock_guard guard(mutex_);
  at_gates_.emplace_back(std::move(work));
}

void FaultyStore::script(Operation operation, Kind kind, int times) {
  const std::lock_guard guard(mutex_);
  for (int i = 0; i < times; ++i) {
    script_.at(index(operation)).push_back({.kind = kind});
  }
}

std::shared_ptr<Gate> FaultyStore::script_gate(Operation operation, Kind kind) {
  auto gate = std::make_shared<Gate>();
  const std::lock_guard guard(mutex_);
  script_.at(index(operation)).push_back({.kind = kind, .gate = gate});
  return gate;
}

void FaultyStore::refuse(Operation operation, int times) { script(operation, Kind::refuse, times); }

void FaultyStore::lose_request(Operation operation, int times) {
  script(operation, Kind::lose_request, times);
}

void FaultyStore::lose_reply(Operation operation, int times) {
  script(operation, Kind::lose_reply, times);
}

void FaultyStore::duplicate(Operation operation, int times) {
  script(operation, Kind::duplicate, times);
}

void FaultyStore::pass(Operation operation, int times) { script(operation, Kind::none, times); }

std::shared_ptr<Gate> FaultyStore::hold_request(Operation operation) {
  return script_gate(operation, Kind::hold_request);
}

std::shared_ptr<Gate> FaultyStore::hold_reply(Operation operation) {
  return script_gate(operation, Kind::hold_reply);
}

void FaultyStore::go_away() {
  const std::lock_guard guard(mutex_);
  away_ = true;
  hints_->away = true;
}

void FaultyStore::come_back() {
  const std::lock_guard guard(mutex_);
  away_ = false;
  hints_->away = false;
}

void FaultyStore::lose_hints() { hints_->lost = true; }

std::size_t FaultyStore::calls(Operation operation) const {
  const std::lock_guard guard(mutex_);
  return calls_.at(index(operation));
}

store::Capabilities FaultyStore::capabilities() const {
  store::Capabilities capabilities = ForwardingStore::capabilities();
  capabilities.immediate = false;  // a call may wait at a gate
  return capabilities;
}

FaultyStore::Fault FaultyStore::next(Operation operation) {
  const std::lock_guard guard(mutex_);
  ++calls_.at(index(operation));
  if (away_) {
    return {.kind = Kind::refuse};
  }
  auto& script = script_.at(index(operation));
  if (script.empty()) {
    return {};
  }
  Fault fault = std::move(script.front());
  script.pop_front();
  return fault;
}

Result<void> FaultyStore::around(Operation operation, Deadline deadline, const Forward& forward) {
  const Fault fault = next(operation);
  switch (fault.kind) {
    case Kind::none: return forward(deadline);
    case Kind::refuse: return away();
    case Kind::lose_request: return unknown();
    case Kind::lose_reply: static_cast<void>(forward(deadline)); return unknown();
    case Kind::duplicate: static_cast<void>(forward(deadline)); return forward(deadline);
    case Kind::hold_request:
      if (!fault.gate->pass(deadline)) {
        return unknown();
      }
      return forward(deadline);
    case Kind::hold_reply: {
      auto outcome = forward(deadline);
      if (!fault.gate->pass(deadline)) {
        return unknown();
      }
      return outcome;
    }
  }
  return fail(ErrorCode::internal, "a fault of no kind");
}

Result<store::Watch> FaultyStore::do_watch(const Name& name, store::WatchCallback callback) {
  return ForwardingStore::do_watch(name, [hints = hints_, callback](const store::Notice& notice) {
    if (!hints->away && !hints->lost) {
      callback(notice);
    }
  });
}

}  // namespace holdfast::testing
