#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct _mongoc_client_t;  // NOLINT(bugprone-reserved-identifier): the driver's name.

namespace holdfast::tests {

// A plain client, to see and to change what is on the server past Holdfast.
//
// Not thread-safe. A server that does not answer, or refuses, is a std::runtime_error.
class MongoClient {
 public:
  explicit MongoClient(const std::string& url);

  // A command and its answer, as JSON.
  std::string run(std::string_view database, std::string_view command);
  // The one document with this _id, as JSON; empty if there is none.
  std::string document(std::string_view database, std::string_view collection, std::string_view id);

 private:
  struct Free {
    void operator()(_mongoc_client_t* client) const noexcept;
  };
  std::unique_ptr<_mongoc_client_t, Free> client_;
};

// A text as JSON has it, with its quotation marks.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace holdfast::tests
