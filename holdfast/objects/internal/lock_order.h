#pragma once

#include <cstdint>
#include <utility>

namespace holdfast::objects::internal {

// The locks of a host, in the order in which a thread takes them.
enum class Rank : std::uint8_t {
  stop,  // the host is open: CallGate
  key,   // of an object: ObjectType::keys; several only by `together`, always in the same order
  turn,  // of a serial object's callers
  save,  // of an object's writers
  map,   // a shard of the table of active objects; innermost, no user code runs under it
  user,  // not a lock: user code runs (a method, a hook)
};

// Aborts the process, with a message, if a thread takes the locks of one host in another order.
// While user code runs (a method, a hook), a nested operation may start again at `key`: the outer
// one holds `stop`. A try that does not wait may come in any order, and is not checked.
//
// Thread-local. Without NDEBUG in the build of this library, or after `check`; otherwise it does
// nothing.
class LockOrder {
 public:
  // Checks from now on; returns true. For tests, before the first host is made.
  static bool check() noexcept { return checked = true; }
  [[nodiscard]] static bool is_checked() noexcept { return checked; }

  static void acquire(const void* host, Rank rank);
  static void release(const void* host, Rank rank) noexcept;

 private:
  static bool checked;
};

// Declares that a lock is held, for the life of this object.
class Ranked {
 public:
  Ranked() noexcept = default;
  Ranked(const void* host, Rank rank) : host_(host), rank_(rank) {
    if (LockOrder::is_checked()) LockOrder::acquire(host_, rank_);
  }
  Ranked(Ranked&& other) noexcept
      : host_(std::exchange(other.host_, nullptr)), rank_(other.rank_) {}
  Ranked& operator=(Ranked&& other) noexcept {
    if (this != &other) {
      reset();
      host_ = std::exchange(other.host_, nullptr);
      rank_ = other.rank_;
    }
    return *this;
  }
  ~Ranked() { reset(); }

  void reset() noexcept {
    if (host_ != nullptr && LockOrder::is_checked()) LockOrder::release(host_, rank_);
    host_ = nullptr;
  }

 private:
  const void* host_ = nullptr;
  Rank rank_ = Rank::stop;
};

// A guard of a KeyLock, with its rank.
template <class Guard>
struct RankedGuard {
  Ranked order;
  Guard guard;

  void unlock() noexcept {
    guard.unlock();
    order.reset();
  }
};

}  // namespace holdfast::objects::internal
