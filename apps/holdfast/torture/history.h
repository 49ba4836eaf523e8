#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// The history of a run of `holdfast torture`: plain data, of the standard library alone, so that
// the checker shares nothing with what it judges.
namespace holdfast::cli::torture {

// Since the run began, on a clock that all processes of the machine share and that counts suspend.
using Time = std::chrono::nanoseconds;

enum class Kind : std::uint8_t { mutex, semaphore, reader_writer };

// A name that the workers contend for. A reader has one of its permits, a writer all of them.
struct LockName {
  std::string text;
  Kind kind = Kind::mutex;
  std::uint32_t permits = 1;
};

enum class End : std::uint8_t {
  open,      // the run was over first
  released,  // by its holder
  lost,      // its lock said that it was lost
  killed,    // with its process
};

// One lease from the answer to its end, as the process that held it saw it.
struct Hold {
  std::uint32_t worker = 0;
  std::uint32_t name = 0;
  std::uint32_t permits = 1;
  End end = End::open;
  std::uint64_t token = 0;
  Time asked{};    // before the call
  Time granted{};  // after the call
  Time sure{};     // the last time before which the lock said that it was held
  Time ended{};
};

// A version of the register that a mutex protects: which write made it, and which one that had
// read.
struct Version {
  std::uint64_t write = 0;
  std::uint64_t read = 0;
  std::uint64_t token = 0;
};

// A write of a register that its worker saw succeed or be refused.
struct Update {
  std::uint32_t worker = 0;
  std::uint32_t name = 0;
  std::uint64_t write = 0;
  Time time{};
  bool acknowledged = false;     // false: the fence refused it
  bool held_afterwards = false;  // the lock was still held after the write
};

// Something that was done to a worker, a connection or the server.
struct Fault {
  std::string what;
  std::string target;
  Time begin{};
  Time end{};
};

struct History {
  std::vector<LockName> names;
  std::vector<Hold> holds;
  std::vector<Update> updates;
  // The versions of each name's register, in the order in which they were written; the last one is
  // what a reader sees.
  std::vector<std::vector<Version>> registers;
  std::vector<Fault> faults;
  std::vector<std::uint32_t> never_free;  // names that nobody could acquire when all was over
  std::vector<std::uint32_t> unknown;     // names about which nobody has asked, or got an answer
  bool fenced = false;
};

}  // namespace holdfast::cli::torture
