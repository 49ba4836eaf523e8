#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "duplicate_detector.h"
#include "invoice.h"

namespace invoices {

enum class Command : std::uint8_t { add, check, list };

// What the program was told.
struct Request {
  Command command = Command::list;
  std::string store = "memory:";
  DetectorOptions detector;
  Invoice invoice;                 // to add or to check
  std::vector<std::string> files;  // to add
};

// Asked for help, or told nonsense: says so, and what to exit with.
struct Answered {
  int status = 0;
};

// What to do, or that the user has his answer already.
[[nodiscard]] std::variant<Request, Answered> parse_command_line(int argc, char** argv);

}  // namespace invoices
