#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "duplicate_detector.h"
#include "invoice.h"

namespace invoices {

enum class Command : std::uint8_t {
  add,
  check,
  list,
  mark_processing,
  is_processing,
  clear_processing,
};

// A parsed command line.
struct Request {
  Command command = Command::list;
  std::string store = "memory:";
  DetectorOptions detector;
  Invoice invoice;                 // to add or to check
  std::vector<std::string> files;  // to add; one for the commands of processing
  std::string user;                // to mark as processing
  std::string account;             // for the commands of processing
};

// The command line asked for help, or was wrong: the user was shown why, and the program exits with
// this status.
struct Answered {
  int status = 0;
};

// Parses the command line. Prints the help, or what is wrong, where there is nothing to run.
[[nodiscard]] std::variant<Request, Answered> parse_command_line(int argc, char** argv);

}  // namespace invoices
