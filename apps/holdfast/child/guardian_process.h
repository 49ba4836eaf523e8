#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include <holdfast/base/clock.h>

#include "apps/holdfast/child/boot_timer.h"
#include "apps/holdfast/child/spawn.h"

// The guardian's own half: what runs in its process. See guardian.h.
namespace holdfast::cli {

// The treatment of processes that the command leaves behind when it ends.
enum class Background : std::uint8_t {
  keep,  // they live on, without the lock
  kill,  // they get TERM, and KILL after `kill_after`; then the lock is released
  wait,  // the lock is held until they have ended
};

// Memory that the supervisor and the guardian share. Times are of base::boot_clock(), in
// nanoseconds.
struct GuardianBoard {
  std::atomic<std::int64_t> term_at;  // TERM then, if nobody moves it
  std::atomic<std::int64_t> kill_at;  // KILL then
  std::atomic<bool> ending;           // nothing that the command leaves behind may live on
  std::atomic<bool> end_rest;         // as Background::kill from now on
};

struct GuardianPost {
  GuardianBoard* board;
  // A byte: look at the board, and the supervisor knows that the command has ended; its end: the
  // supervisor is done, or dead.
  int orders;
  int reports;             // takes GuardianReports
  int signals;             // a signalfd of all signals
  const BootTimer* timer;  // not used by anybody else
  pid_t supervisor;
  Background background;
  base::Duration kill_after;
};

struct GuardianReport {
  enum class Kind : std::int32_t {
    started,       // value: the command's id
    no_process,    // value: errno; there is no process for the command, the guardian has ended
    not_executed,  // value: errno; the command cannot be executed, the guardian has ended
    stopped,       // value: the signal that stopped the command
    left,          // the command has ended; processes that it has left behind may not have
    ended,         // value: the exit status, or 128 and the signal; there will be no other report
    died,          // never sent: the guardian was killed
  };
  Kind kind;
  std::int32_t value;
};

// Starts the command and guards it until it has ended, in a process that was forked for this: makes
// system calls only. Until the supervisor knows that the command has ended, its id and that of its
// group are not free to be used again.
[[noreturn]] void guard(const GuardianPost& post, Spawn& spawn) noexcept;

}  // namespace holdfast::cli
