#include <algorithm>
#include <string>

#include "apps/holdfast/serve/page.h"
#include "apps/holdfast/serve/page_files.h"

namespace holdfast::cli::serve {

const PageFile* find_file(std::string_view path) {
  const auto* const found = std::ranges::find(kPageFiles, path, &PageFile::path);
  return found != std::end(kPageFiles) ? found : nullptr;
}

Response file_response(const Request& request, std::string_view path) {
  constexpr int kNotModified = 304;
  const PageFile& file = *find_file(path);
  const std::string tag = "\"" + std::string(file.tag) + "\"";
  Response response{.content_type = std::string(file.type),
                    .headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}}};
  if (request.if_none_match == tag) {
    response.status = kNotModified;
  } else {
    response.body = file.text;
  }
  return response;
}

std::string_view openapi_text() { return kOpenapi; }

}  // namespace holdfast::cli::serve
