#pragma once

#include <string_view>

#include "apps/holdfast/serve/message.h"

namespace holdfast::cli::serve {

// A file of the page, embedded at build time from the folder page/.
struct PageFile {
  std::string_view path;  // "/app.js"; "/" for the page itself
  std::string_view type;
  std::string_view tag;  // changes with the text
  std::string_view text;
};

// Returns the file of this path; null if there is none.
[[nodiscard]] const PageFile* find_file(std::string_view path);
// Returns the file, or 304 for a client that has it. The file exists.
[[nodiscard]] Response file_response(const Request& request, std::string_view path);

// The description of the API, which the server has at /api/v1/openapi.json.
[[nodiscard]] std::string_view openapi_text();

}  // namespace holdfast::cli::serve
