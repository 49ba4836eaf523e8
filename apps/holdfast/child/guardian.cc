#include <fcntl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <new>
#include <utility>

#include <holdfast/base/try.h>

#include "apps/holdfast/child/guardian.h"

namespace holdfast::cli {

namespace {

using Kind = GuardianReport::Kind;
template <class Value>
using Result = std::expected<Value, StartFailure>;

std::unexpected<StartFailure> no_process(int error) {
  return std::unexpected(StartFailure{.step = StartFailure::Step::process, .error = error});
}

struct Pipe {
  Descriptor out;
  Descriptor in;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return no_process(errno);
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// A socket, because a write to a pipe without a reader is a signal.
Result<Pipe> make_orders() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return no_process(errno);
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

Result<GuardianBoard*> make_board() {
  void* const memory = mmap(nullptr, sizeof(GuardianBoard), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return no_process(errno);
  }
  return new (memory) GuardianBoard{};
}

// A process that reads it gets its own signals, not those of the process that made it.
Result<Descriptor> make_signals() {
  sigset_t all;
  sigfillset(&all);
  Descriptor signals(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  if (signals.get() < 0) {
    return no_process(errno);
  }
  return signals;
}

}  // namespace

Guardian::Guardian(GuardianBoard* board, Descriptor orders, Descriptor reports, pid_t id) noexcept
    : board_(board), orders_(std::move(orders)), reports_(std::move(reports)), id_(id) {}

Guardian::Guardian(Guardian&& other) noexcept
    : board_(std::exchange(other.board_, nullptr)),
      orders_(std::move(other.orders_)),
      reports_(std::move(other.reports_)),
      id_(std::exchange(other.id_, -1)),
      command_(other.command_) {}

Guardian::~Guardian() {
  if (id_ > 0) {
    leave();
    waitpid(id_, nullptr, 0);
  }
  if (board_ != nullptr) {
    munmap(board_, sizeof *board_);
  }
}

std::expected<Guardian, StartFailure> Guardian::start(SpawnOptions command,
                                                      const GuardianOptions& options) {
  Spawn spawn(std::move(command));
  const BootTimer timer;
  HOLDFAST_TRY_LET(auto orders, make_orders());
  HOLDFAST_TRY_LET(auto reports, make_pipe());
  HOLDFAST_TRY_LET(const auto signals, make_signals());
  HOLDFAST_TRY_LET(const auto board, make_board());
  Guardian guardian(board, std::move(orders.in), std::move(reports.out), -1);
  guardian.set(options.deadlines);
  const GuardianPost post{.board = board,
                          .orders = orders.out.get(),
                          .reports = reports.in.get(),
                          .signals = signals.get(),
                          .timer = &timer,
                          .supervisor = getpid(),
                          .background = options.background,
                          .kill_after = options.kill_after};
  guardian.id_ = fork();
  if (guardian.id_ < 0) {
    return no_process(errno);
  }
  if (guardian.id_ == 0) {
    guardian.orders_ = Descriptor();  // so that the end of the supervisor is the end of its orders
    guardian.reports_ = Descriptor();
    guard(post, spawn);
  }
  reports.in = Descriptor();  // so that the end of the guardian is the end of its reports
  HOLDFAST_TRY_LET(const auto started, guardian.wait_for_start());
  guardian.command_ = started;
  fcntl(guardian.reports_.get(), F_SETFL, O_NONBLOCK);
  return guardian;
}

std::expected<pid_t, StartFailure> Guardian::wait_for_start() const {
  GuardianReport report{};
  if (read(reports_.get(), &report, sizeof report) != sizeof report) {
    return no_process(ECHILD);  // the guardian was killed at once
  }
  if (report.kind == Kind::started) {
    return report.value;
  }
  return std::unexpected(StartFailure{.step = report.kind == Kind::no_process
                                                  ? StartFailure::Step::process
                                                  : StartFailure::Step::command,
                                      .error = report.value});
}

void Guardian::set(const Deadlines& deadlines) noexcept {
  // In this order: the guardian may look in between.
  board_->kill_at = deadlines.kill.time_since_epoch().count();
  board_->term_at = deadlines.term.time_since_epoch().count();
}

void Guardian::end_rest() noexcept {
  board_->end_rest = true;
  acknowledge_end();
}

void Guardian::acknowledge_end() noexcept {
  const char order = 0;
  static_cast<void>(send(orders_.get(), &order, 1, MSG_NOSIGNAL) == 1);
}

std::optional<GuardianReport> Guardian::next() const {
  GuardianReport report{};
  const ssize_t size = read(reports_.get(), &report, sizeof report);
  if (size == sizeof report) {
    return report;
  }
  return size == 0 ? std::optional(GuardianReport{.kind = Kind::died, .value = 0}) : std::nullopt;
}

}  // namespace holdfast::cli
