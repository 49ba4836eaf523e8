#pragma once

#include <cstdint>
#include <string>

#include <bson/bson.h>

#include <holdfast/base/error.h>
#include <holdfast/engines/mongodb/internal/bson.h>

namespace holdfast::engines::mongodb::internal {

// The reason why a command failed.
struct Trouble {
  enum class Kind : std::uint8_t {
    not_done,  // nothing was done; it may be sent again
    unknown,   // it may have been done; it may be sent again if that does no harm
    refused,   // by the server, for good
  };

  // Instead of a code of the server's: it sent more than one answer can have.
  static constexpr int kTooLong = -1;

  Kind kind = Kind::refused;
  bool connection_is_bad = false;
  bool is_unreachable = false;  // no server accepted a connection
  int code = 0;                 // the server's; zero if it did not say anything
  std::string message;
};

// Returns the meaning of a driver's error. `reply` came with it, and may be empty.
[[nodiscard]] Trouble trouble_of(const bson_error_t& error, const Bson& reply);

// Returns the error that the caller gets for a refusal.
[[nodiscard]] base::Error error_of(const Trouble& trouble);

}  // namespace holdfast::engines::mongodb::internal
