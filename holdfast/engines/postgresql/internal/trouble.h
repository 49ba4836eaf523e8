#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>

namespace holdfast::engines::postgresql::internal {

// The reason why a statement failed.
struct Trouble {
  enum class Kind : std::uint8_t {
    not_done,  // nothing was done; it may be sent again
    unknown,   // it may have been done
    refused,   // by the server, for good
  };

  Kind kind = Kind::refused;
  bool connection_is_bad = false;
  bool is_unreachable = false;  // no server accepted a connection
  std::string state{};          // the SQLSTATE; empty if the server did not say anything
  std::string message;
};

// Returns what an error that the server sent means. The statement was a transaction of its own.
[[nodiscard]] Trouble trouble_of(std::string_view state, std::string_view message);

// Returns whether the server has no schema of ours, or one that was dropped.
[[nodiscard]] bool lacks_schema(const Trouble& trouble);

// Returns what a trouble that is not tried again means for the caller.
[[nodiscard]] base::Error error_of(const Trouble& trouble);

}  // namespace holdfast::engines::postgresql::internal
