#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "bench/redis/spinner.h"

namespace holdfast::bench_redis {

Spinner::Spinner() : process_(::fork()) {
  if (process_ == 0) {
    constexpr int kLowestPriority = 19;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    static_cast<void>(::nice(kLowestPriority));
    for (std::atomic<unsigned> turns = 0;; ++turns) {
    }
  }
}

Spinner::~Spinner() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

}  // namespace holdfast::bench_redis
