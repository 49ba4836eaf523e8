#pragma once

#include <csignal>
#include <ctime>

namespace holdfast::tests {

// Keeps SIGPIPE from this thread while it lives: hiredis does not write with MSG_NOSIGNAL, and the
// server may have just ended. The rest of the process keeps the signal, so that a test still dies
// of a write of ours that raises it. Made and destroyed in the same thread, which does not block
// SIGPIPE itself.
//
//   const NoPipeSignal guard;
//   ::redisCommand(context, "PING");
class NoPipeSignal {
 public:
  NoPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec at_once{};
    ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

}  // namespace holdfast::tests
